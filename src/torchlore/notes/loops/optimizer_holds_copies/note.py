"""An optimizer that is given copies of the parameters trains the copies: the model never moves.

`[p.data for p in model.parameters()]`, `p.detach()`, `model.state_dict().values()` and the parameters of a `deepcopy` are
other tensors. The optimizer takes them without a word; their `.grad` stays None, so every step skips them, and the loss
stays where it was. (`p.clone()` is refused, as it is no leaf.)

Give it the parameters themselves: `torch.optim.SGD(model.parameters(), lr=0.1)`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_COPIES = ("detach", "clone", "cpu", "cuda", "to", "float", "half", "double")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0.0
    assert good["moved"] > 0.01


def find(source: Source) -> Iterator[Hit]:
    for call, name in uses.calls_under(source, "torch.optim."):
        if not (name.count(".") == 2 and name[12:13].isupper()):
            continue
        given = tree.argument(call, 0, "params")
        copied = _copied(source, follow.followed(source, given)) if given is not None else ""
        if copied and given is not None:
            yield source.hit(
                given,
                f"`{copied}` are other tensors than the model's parameters, which never train: pass `model.parameters()`",
            )


def _copied(source: Source, given: ast.expr) -> str:
    """The expression that makes the copies, "" if none does."""
    if isinstance(given, ast.ListComp | ast.GeneratorExp):
        element = given.elt
        if isinstance(element, ast.Attribute) and element.attr == "data" and _is_parameter(source, element.value):
            return source.code(element)
        moved = (
            isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute) and element.func.attr in _COPIES
        )
        return source.code(element) if moved and _is_parameter(source, tree.receiver(element)) else ""  # type: ignore[arg-type]  # a call
    if isinstance(given, ast.Call) and source.name(given.func) in ("list", "iter") and given.args:
        return _copied(source, given.args[0])
    if not (isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute)):
        return ""
    owner = given.func.value
    if given.func.attr == "values" and values.sure(source, owner, "state_dict"):
        return source.code(given)
    anonymous = isinstance(owner, ast.Call) and source.name(owner.func) in ("copy.deepcopy", "copy.copy")
    return source.code(given) if given.func.attr == "parameters" and anonymous else ""


def _is_parameter(source: Source, node: ast.expr) -> bool:
    if values.sure(source, node, "parameter"):
        return True
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    calls = [one.value.func for one in bound if isinstance(one.value, ast.Call) and one.how == "comprehension"]
    return bool(calls) and all(isinstance(one, ast.Attribute) and one.attr == "parameters" for one in calls)
