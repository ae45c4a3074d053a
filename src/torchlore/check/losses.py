"""Where losses are computed, and with which one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple, cast

from torchlore.check import api
from torchlore.check.tree import argument, dotted
from torchlore.check.values import Value, state, values

if TYPE_CHECKING:
    from torchlore.check.source import Source


SAID = "*loss*|*criterion*|*entropy*|*kl_div*"  # what a file says in which `loss_calls` finds one


class LossCall(NamedTuple):
    """A loss is computed here."""

    call: ast.Call
    name: str  # "torch.nn.CrossEntropyLoss" or "torch.nn.functional.cross_entropy"
    made: Value | None  # the loss module, None for a function

    @property
    def input(self) -> ast.expr | None:
        """The first argument: the prediction."""
        return argument(self.call, 0, "input")

    @property
    def target(self) -> ast.expr | None:
        """The second argument."""
        return argument(self.call, 1, "target")

    def option(self, name: str) -> ast.expr | None:
        """A keyword such as `reduction`, wherever it was given; it may stand in `made.source`."""
        if self.made is not None and isinstance(self.made.node, ast.Call):
            return argument(self.made.node, None, name)
        return argument(self.call, None, name)


def called_logits(source: Source, node: ast.expr) -> bool:
    """Whether all that is known of it is a name that says raw scores: a parameter `logits`, `student_logits`."""
    known = any(value.state or value.node is not None for value in values(source, node))
    return state(source, node) is None and not known and dotted(node).lower().endswith("logits")


def loss_calls(source: Source, *names: str) -> list[LossCall]:
    """Every call of one of torch's losses (functions, or modules made by these classes), in the order of the text.

    Names are the last parts: `loss_calls(source, "CrossEntropyLoss", "cross_entropy")`; none asks for all.
    """
    found: list[LossCall] | None = source.memo.get("loss_calls")
    if found is None:
        found = source.memo["loss_calls"] = _collect(source)
    return [one for one in found if not names or one.name.rpartition(".")[2] in names]


def loss_choices(source: Source, *names: str) -> list[LossCall]:
    """Calls that may be one of several losses, `F.mse_loss if regression else F.cross_entropy`; each of the named ones among them."""
    loss_calls(source)
    found = cast("list[LossCall]", source.memo.get("loss_choices", []))
    return [one for one in found if one.name.rpartition(".")[2] in names]


def _collect(source: Source) -> list[LossCall]:
    found: list[LossCall] = []
    several: list[LossCall] = []
    text = source.text
    if not any(word in text for word in ("loss", "Loss", "criterion", "entropy", "kl_div")):
        return found
    functions = set(source.calls(*api.LOSS_FUNCTIONS))
    for call in source.all(ast.Call):
        func = call.func
        if call in functions:
            found.append(LossCall(call, source.name(func), None))
        elif _may_be_loss(func, call) and not source.name(func):
            made = values(source, func)
            if made and all(_is_loss(one) for one in made):
                same = list(dict.fromkeys(one.name for one in made))
                found += [LossCall(call, made[0].name, made[0])] if len(same) == 1 else []
                several += [LossCall(call, one.name, one) for one in made] if len(same) > 1 else []
    source.memo["loss_choices"] = several
    return found


def _is_loss(made: Value) -> bool:
    """One of torch's losses: a module, or a function under another name."""
    return (made.kind == "loss" and made.name.startswith("torch.nn.")) or made.name in api.LOSS_FUNCTIONS


def _may_be_loss(func: ast.expr, call: ast.Call) -> bool:
    if len(call.args) + len(call.keywords) < 2 and not any(isinstance(arg, ast.Starred) for arg in call.args):
        return False
    if isinstance(func, ast.Attribute):
        return func.attr not in _NEVER
    return isinstance(func, ast.Name | ast.Call | ast.Subscript)


_NEVER = {"append", "format", "view", "reshape", "permute", "transpose", "add_argument", "join", "get", "update", "replace",
          "repeat", "expand", "size", "to", "mean", "sum", "register_buffer", "add_scalar", "split", "insert"}  # fmt: skip
