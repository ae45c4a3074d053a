"""The rule of loader-runs-dry."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, flow, follow, iteration, project, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_ONCE = ("zip", "map", "filter", "iter", "reversed", "enumerate")
_PART = regex(r"\b(?:islice|zip|takewhile)\(")  # takes some, and the next time goes on
WORDS = ("__iter__|range|trange",)


def find(source: Source) -> Iterator[Hit]:
    yield from _in_datasets(source)
    yield from _above_the_epochs(source)


def _in_datasets(source: Source) -> Iterator[Hit]:
    """`def __iter__(self): return self.samples`, where `__init__` makes `self.samples` a generator."""
    for way in source.all(ast.FunctionDef) if "__iter__" in source.text else ():
        if way.name != "__iter__":
            continue
        owner = project.enclosing_class(source, way)
        back = way.body[-1] if len(way.body) == 1 else None
        given = back.value if isinstance(back, ast.Return) else None
        given = (
            given.args[0] if isinstance(given, ast.Call) and source.name(given.func) == "iter" and given.args else given
        )
        if owner is None or not isinstance(given, ast.Attribute) or classes.kind_of_instances(owner) != "dataset":
            continue
        held = classes.assigned(owner, given.attr)
        made = held[0].value if len(held) == 1 and held[0].method == "__init__" else None
        if isinstance(made, ast.GeneratorExp) or (isinstance(made, ast.Call) and _walked_once(source, made)):
            told = f"`self.{given.attr}` is made once and can be walked through once, so the second epoch is empty"
            yield source.hit(made, f"{told}: make it in `__iter__`")


def _above_the_epochs(source: Source) -> Iterator[Hit]:
    """`batches = make_batches(x)` above `for epoch in ...: for x, y in batches`: there is nothing left for the second epoch."""
    for loop in source.all(ast.For) if "range" in source.text and flow.may_train(source) else ():
        outer = next((one for one in tree.loops(source, loop) if isinstance(one, ast.For)), None)
        if outer is None or not _counts(source, outer) or _stops(source, loop):
            continue
        name = iteration.unwrapped(source, loop.iter) if not _PART.search(source.code(loop.iter)) else None
        if isinstance(name, ast.Attribute) and tree.dotted(name.value) == "self":
            yield from _of_the_object(source, name)
        if not isinstance(name, ast.Name):
            continue
        made = follow.binding(source, name)
        home = scopes.reaching(source, name)[0].statement if made is not None else None
        if home is None or tree.loops(source, home)[:1] == [outer] or tree.inside(source, home, outer):
            continue
        if isinstance(made, ast.GeneratorExp) or (isinstance(made, ast.Call) and _walked_once(source, made)):
            told = f"`{name.id}` is made once and can be walked through once, so every later turn of the loop around it does nothing"
            yield source.hit(made, f"{told}: make it inside of that loop")


def _of_the_object(source: Source, name: ast.Attribute) -> Iterator[Hit]:
    """`self.batches = zip(...)` in `__init__`, gone through in every epoch."""
    owner = project.enclosing_class(source, name)
    held = classes.assigned(owner, name.attr) if owner is not None else []
    made = held[0].value if len(held) == 1 and held[0].method == "__init__" and held[0].source is source else None
    if isinstance(made, ast.GeneratorExp) or (isinstance(made, ast.Call) and _walked_once(source, made)):
        told = (
            f"`self.{name.attr}` is made once and can be walked through once, so every epoch but the first does nothing"
        )
        yield source.hit(made, f"{told}: make it where the epoch begins")


def _walked_once(source: Source, made: ast.Call) -> bool:
    """A generator of the project, or one of Python's own that are used up."""
    if source.name(made.func) in _ONCE:
        return bool(made.args) and not any(
            source.name(one.func).startswith("itertools.") for one in tree.under(source, made, ast.Call)
        )
    inner = flow.called(source, made)
    if inner is None or inner.node.name == "__init__":
        return False
    yields = [one for one in tree.body_nodes(inner.node) if isinstance(one, ast.Yield | ast.YieldFrom)]
    endless = any(isinstance(one, ast.While) for one in tree.body_nodes(inner.node))
    cycles = "cycle" in inner.source.code(inner.node)
    wrapped = bool(inner.node.decorator_list)  # `@contextmanager`, or a class that starts it anew
    return bool(yields) and not endless and not cycles and not wrapped


def _stops(source: Source, loop: ast.For) -> bool:
    """Whether the loop may leave something for the next time."""
    return any(tree.under(source, loop, ast.Break, ast.Return))


def _counts(source: Source, outer: ast.For) -> bool:
    """`for epoch in range(n)`, also under a progress bar: the same again."""
    calls = [
        one for one in tree.under(source, outer.iter, ast.Call) if source.name(one.func) in ("range", "tqdm.trange")
    ]
    return bool(calls)
