"""The rule of skip-adds-itself."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, grouped, scopes, tree
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

WORDS = ("forward",)


def find(source: Source) -> Iterator[Hit]:
    short = [one for one in source.all(ast.AugAssign) if isinstance(one.op, ast.Add)]
    sums: list[tuple[ast.AST, ast.expr, ast.expr]] = [(one, one.target, one.value) for one in short]
    sums += [(one, one.left, one.right) for one in grouped.operations(source, ast.Add)]
    for place, left, right in sums:
        if not isinstance(left, ast.Name) or not isinstance(right, ast.Name) or left.id != right.id:
            continue
        home, cls = tree.function(source, place), enclosing_class(source, place)
        if home is None or cls is None or home.name != "forward" or not classes.is_module(cls):
            continue
        taken = any(arg.arg == right.id for arg in tree.parameters(home))
        if taken and _overwritten(source, right):
            told = (
                f"the input `{right.id}` is overwritten by now, so this adds the branch to itself and there is no skip"
            )
            yield source.hit(place, f"{told}: give what the layers make a name of its own")


def _overwritten(source: Source, name: ast.Name) -> bool:
    """Whether a layer's output is what the name holds here, wherever it comes from."""
    bound = scopes.reaching(source, name)
    made = [one.value for one in bound if one.how == "assign" and not one.path and one.value is not None]
    calls = [
        any(tree.dotted(one.func).startswith("self.") for one in tree.under(source, value, ast.Call)) for value in made
    ]
    return bool(made) and len(made) == len(bound) and all(calls)
