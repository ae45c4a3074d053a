"""A loss or head with parameters of its own must be given to the optimizer too.

Center loss, ArcFace, learned temperatures and uncertainty weights are modules with parameters. An optimizer built from the
network's parameters does not know them: they get gradients in every step, and stay what they were drawn as.

Give it both: `optim.SGD([*model.parameters(), *criterion.parameters()], lr=0.1)`, or make the one a part of the other.
"""

import ast
from collections.abc import Iterator

from torchlore.check import flow, frameworks, scopes, tensors, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = (
    "https://github.com/KaiyangZhou/pytorch-center-loss/issues/22",
    "https://github.com/4uiiurz1/pytorch-adacos/issues/10",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_HARMLESS = frozenset({"to", "cuda", "train", "zero_grad", "float", "double"})


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0


def find(source: Source) -> Iterator[Hit]:
    owners = _with_parameters(source) if flow.may_train(source) else set()
    for assign in source.all(ast.Assign) if owners else []:
        name, made = assign.targets[0], _constructor(assign.value)
        if not isinstance(name, ast.Name) or not made or tree.dotted(made.func) not in owners:
            continue
        home = tree.function(source, assign)
        optimizers = [one for one in flow.events_of(source, home) if one.what == "optimizer" and one.source is source]
        if optimizers and not frameworks.owned(source, assign) and _only_called(source, assign, name):
            at = optimizers[-1].at
            message = f"`{name.id}` has parameters that no optimizer gets, so they never change: add `*{name.id}.parameters()`"
            yield source.hit(at, message)


def _constructor(value: ast.expr) -> ast.Call | None:
    """`Center(3)`, also in `Center(3).to(device)`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _HARMLESS:
        value = value.func.value
    return value if isinstance(value, ast.Call) else None


def _with_parameters(source: Source) -> set[str]:
    """Names of this file's classes that make an `nn.Parameter` that is to be trained."""
    found = set()
    for call in source.calls("torch.nn.Parameter"):
        home = tree.function(source, call)
        cls = tree.method_class(source, home) if home is not None else None
        if cls is not None and tree.literal(tree.argument(call, 1, "requires_grad")) is not False:
            found.add(cls.name)
    return found


def _trains(source: Source, call: ast.Call) -> bool:
    """Whether the call stands in a loop that runs a backward pass, and its result keeps its graph."""
    loops = {loop.node for loop in flow.loops(source) if loop.of("backward")}
    cut = isinstance(up := source.parents[call], ast.Attribute) and up.attr in {"detach", "item", "data"}
    return (
        not cut and not tensors.no_grad_around(source, call) and any(one in loops for one in tree.loops(source, call))
    )


def _only_called(source: Source, assign: ast.Assign, name: ast.Name) -> bool:
    """Whether every use of the name is a call of it where something is trained, or changes nothing about it."""
    uses = [one for one in source.all(ast.Name) if one.id == name.id and isinstance(one.ctx, ast.Load)]
    called, home = False, tree.function(source, assign)
    for use in uses:
        bound = scopes.reaching(source, use)
        if bound and all(tree.function(source, one.node) is not home for one in bound):
            continue  # another function's variable of the same name
        if all(one.node is not name for one in bound):
            return False
        up = source.parents[use]
        if isinstance(up, ast.Call) and up.func is use:
            called |= _trains(source, up)
        elif not (
            isinstance(up, ast.Attribute) and up.attr in _HARMLESS and not isinstance(source.parents[up], ast.Assign)
        ):
            return False
    frozen = any(up for up in tree.ancestors(source, assign) if isinstance(up, ast.ClassDef))
    return called and not frozen
