"""The rule of one-layer-for-all-turns."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, scopes, tree, uses, values
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

WORDS = ("ModuleList|Sequential", "for")
_KEEPS = {"append", "extend", "insert", "add", "update"}


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        for method in classes.methods(cls).values() if classes.is_module(cls) else ():
            for loop in tree.under(source, method, ast.For) if method.name != "__init__" else ():
                yield from _anew(source, loop)
                yield from _first_alone(source, cls, loop)


def _anew(source: Source, loop: ast.For) -> Iterator[Hit]:
    """`for block in self.blocks: out = block(x)`: no turn reads what another one made."""
    called = [one for one in tree.under(source, loop, ast.Call) if _is_element(source, one.func, loop)]
    given = called[0].args[0] if len(called) == 1 and len(called[0].args) == 1 else None
    if not isinstance(given, ast.Name) or _keeps(source, loop) or tree.conditions(source, called[0]):
        return
    names = tree.under(source, loop, ast.Name)
    made = {one.id for one in names if isinstance(one.ctx, ast.Store)}
    reads = (one for one in names if one.id in made and isinstance(one.ctx, ast.Load))
    if given.id in made or any(_of_the_turn_before(source, one, loop) for one in reads):
        return
    ends = loop.end_lineno or loop.lineno
    after = (use for name in made for use in uses.names(source, name) if use.lineno > ends)
    if any(isinstance(use.ctx, ast.Load) and _from(source, use, loop) for use in after):
        layer = source.code(called[0].func)
        told = f"every turn begins anew with `{given.id}`, so the network has the depth of one of these layers"
        yield source.hit(called[0], f"{told}: hand the output on, `{given.id} = {layer}({given.id})`")


def _is_element(source: Source, layer: ast.expr, loop: ast.For) -> bool:
    """`block` of `for block in self.blocks`, and `self.blocks[i]` of `for i in range(n)`."""
    turn = loop.target.id if isinstance(loop.target, ast.Name) else ""
    if isinstance(layer, ast.Name):
        return layer.id == turn and values.sure(source, loop.iter, "modulelist")
    picked = isinstance(layer, ast.Subscript) and isinstance(layer.slice, ast.Name) and layer.slice.id == turn
    return picked and isinstance(layer, ast.Subscript) and values.sure(source, layer.value, "modulelist")


def _of_the_turn_before(source: Source, read: ast.Name, loop: ast.For) -> bool:
    bound = (one.statement for one in scopes.reaching(source, read))
    return any(tree.inside(source, one, loop) and one is not loop and getattr(one, "end_lineno", 0) >= read.lineno for one in bound)  # fmt: skip


def _from(source: Source, use: ast.Name, loop: ast.For) -> bool:
    return any(tree.inside(source, one.statement, loop) for one in scopes.reaching(source, use))


def _keeps(source: Source, loop: ast.For) -> bool:
    """Whether a turn leaves something behind besides names."""
    if tree.under(source, loop, ast.AugAssign, ast.Return, ast.Yield, ast.Break):
        return True
    indexed = any(isinstance(one.ctx, ast.Store) for one in tree.under(source, loop, ast.Subscript))
    if indexed or any(isinstance(one.ctx, ast.Store) for one in tree.under(source, loop, ast.Attribute)):
        return True
    called = (one.func for one in tree.under(source, loop, ast.Call))
    return any(isinstance(one, ast.Attribute) and one.attr in _KEEPS for one in called)


def _first_alone(source: Source, cls: Class, loop: ast.For) -> Iterator[Hit]:
    """`for i in range(n): x = self.layers[0](x)`, where nobody calls another one of the list."""
    for call in tree.under(source, loop, ast.Call):
        taken = call.func
        if not isinstance(taken, ast.Subscript) or not isinstance(tree.literal(taken.slice), int):
            continue
        name = tree.dotted(taken.value)
        reads = [one for one in uses.attributes(source, name.rpartition(".")[2]) if isinstance(one.ctx, ast.Load)]
        mine = [one for one in reads if tree.inside(source, one, cls.node) or tree.dotted(one) != name]
        others = [one for one in mine if one is not taken.value and not _counted(source, one)]
        if not name.startswith("self.") or others or not values.sure(source, taken.value, "modulelist"):
            continue
        if _several(cls, name.removeprefix("self.")):
            told = f"every turn calls `{source.code(taken)}`, and nobody calls the others of `{name}`"
            yield source.hit(taken, f"{told}: take the one of the turn")


def _counted(source: Source, one: ast.AST) -> bool:
    """`len(self.layers)`, and `self.layers.append(...)`."""
    up = source.parents[one]
    return (isinstance(up, ast.Call) and source.name(up.func) == "len") or (
        isinstance(up, ast.Attribute) and up.attr in _KEEPS
    )


def _several(cls: Class, name: str) -> bool:
    """Whether the list is made with more than one layer in it."""
    found = classes.assigned(cls, name)
    made = found[0].value if len(found) == 1 else None
    inside = made.args[0] if isinstance(made, ast.Call) and made.args else None
    return isinstance(inside, ast.ListComp | ast.GeneratorExp) or (
        isinstance(inside, ast.List) and len(inside.elts) > 1
    )
