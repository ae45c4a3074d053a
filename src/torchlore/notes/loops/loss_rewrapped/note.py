"""A loss wrapped in `torch.tensor(...)` again is a new number: backward reaches no weight.

`torch.tensor(loss, requires_grad=True)`, `Variable(loss)`, or a loss rebuilt from `.item()` has the right value and no
history. `backward()` fills the `.grad` of that new tensor and of nothing else; the optimizer steps along nothing and the
loss stays where it was. `requires_grad=True` is what made the error message go away, and the training with it.

Call `backward()` on what the model and the loss returned. If it does not require a gradient, look for the `.item()`,
`.detach()`, `no_grad` or NumPy call before it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.check import scopes, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = (
    "https://discuss.pytorch.org/t/loss-backward-element-0-of-tensors-does-not-require-grad-and-does-not-have-a-grad-fn/82571",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_MAKERS = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.FloatTensor", "torch.autograd.Variable")


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("backward"):
        receiver = tree.receiver(call)
        made = values.made_by(source, receiver, *_MAKERS)
        if made is None or made.source is not source or not isinstance(made.node, ast.Call) or not made.node.args:
            continue
        if tree.literal(made.node.args[0]) is tree.UNKNOWN and not _filled(source, receiver):
            told = f"`{source.code(made.node)}` is a new number without a history, so `backward()` reaches no weight: call it on the loss itself"
            yield source.hit(made.node, told)
    yield from _forced(source)


def _filled(source: Source, node: ast.expr) -> bool:
    """Whether values with a history are written into the new tensor: `n[0] = m[0] ** 2`."""
    stores = (one for one in source.all(ast.Subscript) if isinstance(one.ctx, ast.Store))
    return isinstance(node, ast.Name) and any(tree.dotted(one.value) == node.id for one in stores)


def _forced(source: Source) -> Iterator[Hit]:
    """`loss.requires_grad_(True)` or `loss.requires_grad = True` on what a computation gave."""
    if ".backward(" not in source.text:
        return
    calls = [(call, tree.receiver(call)) for call in source.methods("requires_grad_")]
    on = [(call, name) for call, name in calls if not call.args or tree.literal(call.args[0]) is True]
    sets = [one for one in source.all(ast.Assign) if tree.literal(one.value) is True]
    marked = [(one, one.targets[0].value) for one in sets
              if isinstance(one.targets[0], ast.Attribute) and one.targets[0].attr == "requires_grad"]  # fmt: skip
    for node, name in [*on, *marked]:
        if isinstance(name, ast.Name) and "loss" in name.id.lower() and _computed(source, name):
            told = f"`{name.id}` has no history, and a flag does not give it one, so `backward()` reaches no weight: look for the `argmax`, `.item()`, `.detach()` or `no_grad` before it"
            yield source.hit(node, told)


def _computed(source: Source, name: ast.Name) -> bool:
    """Whether the loss comes out of a computation; a constant that others are added to is no harm."""
    found = [one.value for one in scopes.reaching(source, name)]
    makers = ("zeros", "zeros_like", "tensor", "ones", "new_zeros", "Parameter")
    last = [tree.dotted(one.func).rpartition(".")[2] if isinstance(one, ast.Call) else "" for one in found]
    return bool(found) and all(isinstance(one, ast.Call | ast.BinOp) for one in found) and not set(last) & set(makers)


def watch(call: Annotated[Call, "backward"]) -> Alarm | None:
    loss = call.args[0]
    if (
        not call.kwargs.get("leaf")
        or loss.numel() != 1
        or id(loss) in call.run.held()
        or type(loss).__name__ == "Parameter"
    ):
        return None
    told = "backward() is called on a tensor without a history, so no weight gets a gradient; call it on what the loss returned"
    return Alarm(told, evidence="the loss is a leaf")
