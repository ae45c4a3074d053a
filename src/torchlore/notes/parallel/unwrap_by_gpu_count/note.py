"""Whether a model is wrapped does not follow from the number of GPUs: look at the model.

The notes return `self.model` if there is one GPU and `self.model.module` otherwise. With no GPU, which is "otherwise",
that is an AttributeError; with one GPU and a wrapper all the same, every saved name keeps its `module.` prefix.

Ask the object: `model.module if isinstance(model, (DataParallel, DistributedDataParallel)) else model`. torch.compile
hides the model behind `_orig_mod` instead; `torchlore.recipes.device.unwrap` knows all of them, nested too.
"""

import ast
import re
from collections.abc import Callable, Iterator

from torchlore.check import tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ("parallel-get-model",)
SOURCES = ("000:46-54", "002:124-134")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn

    from torchlore.recipes.device import unwrap

    assert bad["bare"] == "AttributeError"
    assert bad["wrapped"] == "DataParallel"
    assert good["bare"] == good["wrapped"] == "Linear"
    model = nn.Linear(2, 2)
    compiled: nn.Module = torch.compile(model)  # type: ignore[assignment]  # it returns a Module for one
    assert unwrap(nn.DataParallel(compiled)) is model


_COUNT = regex(r"^(n|num|no_of|number_of)_?gpus?$|^gpu_?(count|num|s)$|^ngpus?\w*$|^device_count$", re.IGNORECASE)
_AT_ZERO: dict[type, Callable[[float], bool]] = {
    ast.Eq: lambda n: n == 0, ast.NotEq: lambda n: n != 0, ast.Gt: lambda n: n < 0, ast.GtE: lambda n: n <= 0,
    ast.Lt: lambda n: n > 0, ast.LtE: lambda n: n >= 0,
}  # fmt: skip

WORDS = ("module", "*gpu*|*device_count*")


def find(source: Source) -> Iterator[Hit]:
    if ".module" not in source.text:
        return
    choices: list[ast.If | ast.IfExp] = [*source.all(ast.If), *source.all(ast.IfExp)]
    for choice in choices:
        test = choice.test
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not choice.orelse:
            continue
        left = test.left.func if isinstance(test.left, ast.Call) else test.left
        number, holds = tree.literal(test.comparators[0]), _AT_ZERO.get(type(test.ops[0]))
        if not _COUNT.match(tree.dotted(left).rpartition(".")[2]) or not isinstance(number, int) or holds is None:
            continue
        at_zero, else_ = (choice.body, choice.orelse) if holds(number) else (choice.orelse, choice.body)
        inner = _module(at_zero)
        if inner and not _module(else_):
            yield source.hit(
                test,
                f"without a GPU `{source.code(test)}` leads to `{inner}`, and a bare model has no such attribute: ask "
                "the model, `isinstance(model, (DataParallel, DistributedDataParallel))`",
                severity=None if "device_count" in source.text else "hint",  # a setting need not be 0 on any machine
            )


def _module(block: list[ast.stmt] | ast.expr) -> str:
    nodes = block if isinstance(block, list) else [block]
    found = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr == "module")
    return next((tree.dotted(one) for one in found), "")
