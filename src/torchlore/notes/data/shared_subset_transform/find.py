"""The rule of shared-subset-transform."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, project, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_RANDOM = regex(r"^torchvision\.transforms\.(v2\.)?(Random\w+|ColorJitter|AutoAugment|TrivialAugmentWide|RandAugment)$")
_HELD_OUT = regex(r"val|test|eval|dev", re.IGNORECASE)
WORDS = (
    "transform|transforms|target_transform",
    "dataset|*random*|ColorJitter|AutoAugment|TrivialAugmentWide|RandAugment",
    "dataset|DataLoader|Subset|random_split",
)


def find(source: Source) -> Iterator[Hit]:
    for node in uses.any_attributes(source, {"transform", "transforms", "target_transform"}):
        inner = node.value
        if not isinstance(node.ctx, ast.Store):
            continue
        if not isinstance(inner, ast.Attribute) or inner.attr != "dataset":
            continue
        if _is_part(source, inner.value) and not _own_dataset(source, node):
            part = source.code(inner.value)
            yield source.hit(
                node,
                f"`{part}.dataset` is the one dataset behind every part of the split, so this changes the others too: build a "
                "dataset for each transform and split the indices",
            )
    yield from _held_out(source)
    for call in source.calls("torch.utils.data.random_split"):
        held, given = source.parents[call], tree.argument(call, 0, "dataset")
        names = (
            [tree.dotted(one) for one in getattr(held.targets[0], "elts", [])] if isinstance(held, ast.Assign) else []
        )
        out = [name for name in names[1:] if _HELD_OUT.search(name)]
        if out and given is not None and _augments(source, given) and not _mended(source, call, out):
            message = f"`{out[0]}` is a part of a dataset with random augmentation, and is augmented too"
            yield source.hit(
                call, f"{message}: build a dataset for each transform and split the indices", severity="warning"
            )


def _held_out(source: Source) -> Iterator[Hit]:
    """`valid_loader = DataLoader(train_set, sampler=...)` and `val_set = Subset(train_set, ...)`, where the set draws."""
    calls = [*source.calls("torch.utils.data.DataLoader"), *source.calls("torch.utils.data.Subset")]
    for call in calls:
        held, data = source.parents[call], tree.argument(call, 0, "dataset")
        name = tree.dotted(held.targets[0]).rpartition(".")[2] if isinstance(held, ast.Assign) else ""
        part = source.name(call.func).endswith("Subset") or tree.keyword(call, "sampler")
        own = data is None or _HELD_OUT.search(source.code(data))  # its transform is named for evaluation
        if not part or own or data is None or not _HELD_OUT.match(name) or not _augments(source, data):
            continue
        if not _mended(source, call, [name]):
            told = f"`{name}` reads a part of `{source.code(data)}`, whose transform draws anew at each evaluation"
            yield source.hit(
                call, f"{told}: make a second dataset with the transform for evaluation", severity="warning"
            )


def _is_part(source: Source, node: ast.expr) -> bool:
    owner = project.enclosing_class(source, node) if tree.dotted(node).startswith("self.") else None
    kept = classes.assigned(owner, node.attr) if owner is not None and isinstance(node, ast.Attribute) else []
    found: list[scopes.Binding | classes.Attribute] = [*kept]
    found = [*scopes.reaching(source, node)] if isinstance(node, ast.Name) else found
    calls = [source.name(one.value.func) for one in found if isinstance(one.value, ast.Call) and one.path]
    return bool(calls) and len(calls) == len(found) and set(calls) == {"torch.utils.data.random_split"}


def _augments(source: Source, node: ast.expr) -> bool:
    made = [one.node for one in source.values(node) if one.source is source and isinstance(one.node, ast.Call)]
    given = (
        tree.argument(made[0], None, "transform") if len(made) == 1 and values.sure(source, node, "dataset") else None
    )
    transform = follow.followed(source, given) if given is not None else None
    return transform is not None and any(
        _RANDOM.match(source.name(one.func)) for one in ast.walk(transform) if isinstance(one, ast.Call)
    )


def _own_dataset(source: Source, node: ast.AST) -> bool:
    """Whether a part of the split is given a dataset of its own in the same function."""
    home = tree.function(source, node)
    return any(
        isinstance(one.ctx, ast.Store) and tree.function(source, one) is home
        for one in uses.attributes(source, "dataset")
    )


def _mended(source: Source, call: ast.Call, names: list[str]) -> bool:
    """Whether the held-out part is given another dataset or transform afterwards, or lends its indices alone."""
    home = tree.function(source, call)
    read = [one for name in names for one in uses.names(source, name) if _reads(source, one, call)]
    lent = {source.parents[one] for one in read}
    if lent and all(isinstance(up, ast.Attribute) and up.attr == "indices" for up in lent):
        return True
    stored = (one for one in source.all(ast.Attribute) if isinstance(one.ctx, ast.Store))
    return any(
        tree.dotted(one).startswith(f"{name}.") and tree.function(source, one) is home
        for one in stored
        for name in names
    )


def _reads(source: Source, name: ast.Name, call: ast.Call) -> bool:
    """Whether the name may still hold what the call made: `val_set = Subset(plain, val_set.indices)` takes it away."""
    bound = scopes.reaching(source, name) if isinstance(name.ctx, ast.Load) else []
    held = tree.statement(source, call)
    return isinstance(name.ctx, ast.Load) and (not bound or any(one.statement is held for one in bound))
