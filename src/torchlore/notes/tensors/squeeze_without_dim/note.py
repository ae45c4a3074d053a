"""squeeze() without a dimension drops every dimension of size 1, the batch as well.

It works for months on batches of 32. Then the last batch of an epoch, or the first user of the deployed model, brings
one sample: (1, 1) becomes a number without dimensions, (1, 512, 1, 1) becomes (512,), and the next layer fails, or
takes 512 features for 512 samples.

Name the dimension: `x.squeeze(1)`, `x.squeeze(-1)`, `x.squeeze((-2, -1))`; `x.flatten(1)` after pooling. One-dimensional
tensors are best kept for labels: a loss or a comparison between (N,) and (N, 1) broadcasts to N x N. The mean squared
error of a perfect prediction is then not 0, and `(prediction == label).sum() / N` can report 300 %.
"""

import ast
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("tensor-1d",)
SOURCES = ("003:676",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import warnings

    import torch

    assert bad["shapes"] == [(4, 3), (4, 3), (3,)]  # the last batch holds one sample
    assert good["shapes"] == [(4, 3), (4, 3), (1, 3)]

    truth = torch.arange(4.0, device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.nn.functional.mse_loss(truth[:, None], truth).item() == 2.5  # a perfect prediction
    label = torch.tensor([1, 1, 1], device=device)
    assert (label == label[:, None]).sum().item() / 3 == 3.0  # 300 % accuracy


WORDS = ("squeeze|squeeze_",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("squeeze", "squeeze_"):
        function = source.name(call.func) == "torch.squeeze"
        if not tree.lacks(call, 1 if function else 0, "dim"):
            continue
        tensor = call.args[0] if function and call.args else tree.receiver(call)
        if not values.sure(source, tensor, "tensor") or _one_number(source, call):
            continue
        shape = values.shape(source, tensor)
        if shape is not None and None not in shape and all(isinstance(size, int) for size in shape):
            continue  # every size is known: what is dropped is known too
        message = (
            f"`{source.code(call)}` drops every dimension of size 1, the batch of one as well: name it, `squeeze(dim)`"
        )
        yield source.hit(call, message)


def _one_number(source: Source, call: ast.Call) -> bool:
    """`x.squeeze().item()` wants one number and does not care; for NumPy and plots it is a matter of taste."""
    up = source.parents[call]
    return isinstance(up, ast.Attribute) and up.attr in {
        "item",
        "tolist",
        "numpy",
        "cpu",
        "detach",
        "dim",
        "ndim",
        "shape",
    }


def watch(call: Annotated[Call, "squeeze"]) -> Alarm | None:
    tensor = call.args[0]
    if len(call.args) > 1 or call.kwargs or tensor.dim() < 2:
        return None
    batches = call.memory.setdefault("batches", set())
    batches.add(tensor.shape[0])
    if tensor.shape[0] != 1 or len(batches) < 2:
        return None
    shape = tuple(tensor.shape)
    return Alarm(
        f"squeeze() made {shape} of this batch of one {tuple(call.result.shape)}: name the dimension, squeeze(dim)"
    )
