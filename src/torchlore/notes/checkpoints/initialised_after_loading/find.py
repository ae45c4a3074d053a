"""The rule of initialised-after-loading."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import project, tree
from torchlore.check.source import Hit, Source

_FILLS = re.compile(
    r"\binit\.\w+_\(|\.(?:normal_|uniform_|fill_|zero_|xavier_\w+|kaiming_\w+|trunc_normal_|orthogonal_)\("
)
_CHOOSES = re.compile(r"\bnot\b.*load|missing|unexpected|requires_grad")


def find(source: Source) -> Iterator[Hit]:
    loads = [one for one in source.methods("load_state_dict") if tree.dotted(tree.receiver(one)) and one.args]
    for load in loads:
        name, home = tree.dotted(tree.receiver(load)), tree.function(source, load)
        for call in _fillings(source, name):
            later = tree.function(source, call) is home and call.lineno > load.lineno
            if later and _always(source, call, load) and not _loaded_again(source, loads, load, call):
                yield source.hit(
                    call,
                    f"this writes over the weights that `{name}` loaded on line {load.lineno}: initialise first, then load",
                )


def _fillings(source: Source, name: str) -> Iterator[ast.Call]:
    """`net.apply(init)` and `init(net)`, where the function fills weights with numbers."""
    for call in source.methods("apply"):
        if tree.dotted(tree.receiver(call)) == name and len(call.args) == 1 and _fills(source, call.args[0]):
            yield call
    for call in source.all(ast.Call):
        given = tree.dotted(call.args[0]) if len(call.args) == 1 else ""
        if (
            given == name
            and isinstance(call.func, ast.Name)
            and "init" in call.func.id.lower()
            and _fills(source, call.func)
        ):
            yield call


def _fills(source: Source, node: ast.expr) -> bool:
    found = source.project.resolve(source, node)
    code = found.source.code(found.node) if isinstance(found, project.Function) else ""
    return bool(_FILLS.search(code)) and not _CHOOSES.search(code)


def _always(source: Source, call: ast.Call, load: ast.Call) -> bool:
    """Whether the call is made whenever the weights were loaded."""
    own, others = tree.conditions(source, call), tree.conditions(source, load)
    inner = [one for one in tree.loops(source, load) if one not in tree.loops(source, call)]
    return all(one in others for one in own) and not inner


def _loaded_again(source: Source, loads: list[ast.Call], load: ast.Call, call: ast.Call) -> bool:
    """Whether another load follows, or the name is another network by then."""
    name, home = tree.dotted(tree.receiver(load)), tree.function(source, call)
    bound = any(tree.dotted(one.targets[0]) == name and tree.function(source, one) is home
                and load.lineno < one.lineno <= call.lineno for one in source.all(ast.Assign))  # fmt: skip
    again = any(tree.dotted(tree.receiver(one)) == name and one.lineno > call.lineno and tree.function(source, one) is home
                for one in loads)  # fmt: skip
    return again or bound
