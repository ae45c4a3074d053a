"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, classes, flow, frameworks, identity, project, tree
from torchlore.check.events import Event
from torchlore.check.source import Hit, Source
from torchlore.check.values import Value

_WITH_BN = re.compile(r"^torchvision\.models\.(\w+\.)*(resnet|resnext|wide_resnet|densenet|mobilenet|efficientnet|mnasnet|"
                      r"shufflenet|regnet|googlenet|inception|vgg\d+_bn)\w*$")  # fmt: skip


def find(source: Source) -> Iterator[Hit]:
    if "BatchNorm" in source.text and any(source.methods("eval")):
        yield from _undone(source)
    if "requires_grad" not in source.text or not any(source.methods("train")):
        return
    for _, events in flow.entries(source):
        frozen = [event for event in events if event.what == "freeze" and event.source is source]
        if not frozen or frameworks.owned(source, frozen[0].node) or _kept_in_eval(source, events):
            continue
        last = max((i for i, event in enumerate(events) if event.what == "backward"), default=-1)
        for event in events[: last + 1]:
            before = [one for one in frozen if _is_frozen_part(source, one, event)]
            if event.what == "train" and event.source is source and event.detail == "" and before:
                yield source.hit(
                    event.node,
                    "batch norm in the frozen part goes on updating its statistics in train mode: put that part into eval() "
                    "behind this line",
                )
                break


def _is_frozen_part(source: Source, freeze: Event, train: Event) -> bool:
    """Whether what is frozen holds batch norm, and the mode is set on it or on what it is a part of."""
    node: ast.expr | None = freeze.expr
    if isinstance(node, ast.Name):  # `for p in model.backbone.parameters(): p.requires_grad = False`
        loop = next((one for one in freeze.loops[::-1] if isinstance(one, ast.For)), None)
        call = loop.iter if loop is not None else None
        named = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "parameters"
        node = call.func.value if named else node  # type: ignore[union-attr]  # named says so
    if node is None or freeze.conditions or train.owner is None:
        return False
    owner = identity.identity(source, node)
    inside = owner is not None and (
        owner[: len(train.owner)] == train.owner or _is_of_class(source, owner[0], train.expr)
    )
    return inside and any(_has_batchnorm(source, value) for value in source.values(node))


def _is_of_class(source: Source, owner: object, expr: ast.expr | None) -> bool:
    """Whether an expression is an instance of the class on whose `self` something hangs."""
    made = source.values(expr) if expr is not None and isinstance(owner, str) else ()
    return bool(made) and all(one.name.rpartition(".")[2] == str(owner).rpartition(".")[2] for one in made)


def _has_batchnorm(source: Source, value: Value, depth: int = 4) -> bool:
    if _WITH_BN.match(value.name) or value.name.startswith("torch.nn.BatchNorm"):
        return True
    if any(_has_batchnorm(source, one, depth) for group in value.items for one in group):
        return True
    owner = classes.class_behind(source, value) if depth else None
    parts = [one for found in classes.attributes(owner).values() for one in found if one.value] if owner else []
    return any(_has_batchnorm(source, made, depth - 1) for one in parts for made in one.source.values(one.value)
               if api.is_kind(made.kind, "module"))  # fmt: skip


def _undone(source: Source) -> Iterator[Hit]:
    """Batch norm put into eval mode in `__init__`, which the first `net.train()` takes back."""
    for call in source.methods("eval"):
        home, owner = tree.function(source, call), project.enclosing_class(source, call)
        loop = next((one for one in tree.loops(source, call) if isinstance(one, ast.For)), None)
        over = source.code(loop.iter) if loop is not None else ""
        tests = [source.code(test) for test, branch in tree.conditions(source, call) if branch]
        if owner is None or home is None or over not in ("self.modules()", "self.named_modules()") or not tests:
            continue
        if "BatchNorm" not in tests[0] or source.project.method(owner, "train") is not None:
            continue
        at = [call] if home.name == "__init__" else _only_from_init(source, owner, home.name)
        if at and _is_trained(source, owner):
            yield source.hit(
                at[0],
                f"batch norm is in eval mode until the first `train()` of the network, which undoes this: override `train` in "
                f"`{owner.node.name}`, or do it again after each `train()`",
            )


def _only_from_init(source: Source, owner: project.Class, name: str) -> list[ast.Call]:
    """The calls of a method in `__init__`, if nobody else calls it."""
    calls = [
        (one, other)
        for one in project.candidates(source.project, owner, owner.node.name)
        for other in one.methods(name)
    ]
    inside = [other for one, other in calls if one is source and tree.class_of(source, other) is owner.node
              and getattr(tree.function(source, other), "name", "") == "__init__"]  # fmt: skip
    return inside if len(inside) == len(calls) else []


def _is_trained(source: Source, owner: project.Class) -> bool:
    users = project.candidates(source.project, owner, owner.node.name)
    return any(not one.args or tree.literal(one.args[0]) is True for user in users for one in user.methods("train"))


def _kept_in_eval(source: Source, events: tuple[Event, ...]) -> bool:
    """Whether some part is put into eval mode beside the whole, by a call, by `apply`, or by an own `train`."""
    parts = [event for event in events if event.what == "eval" and event.owner is not None and len(event.owner) > 2]
    own = any(node.name == "train" for node in source.all(ast.FunctionDef))
    return bool(parts) or own or "BatchNorm" in "".join(source.code(one) for one in source.calls("isinstance"))
