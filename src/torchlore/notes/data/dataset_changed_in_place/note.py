"""An in-place change in __getitem__ changes the data set itself, once more in every epoch.

`x = self.data[i]` is a view of the stored tensor or array, not a copy. `x -= self.mean`, `x[mask] = 0` or `x.div_(255)`
then write into the data set: the second epoch normalises what is normalised already, cut-outs add up until the images
are black, noise grows from epoch to epoch. With workers each process spoils its own copy, so it depends on
`num_workers` and `persistent_workers` as well.

Make a new tensor, `x = (self.data[i] - self.mean) / self.std`, or copy first: `x = self.data[i].clone()` (`.copy()` for
an array).
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import classes, follow, scopes, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/pycls/pull/21", "https://github.com/pytorch/vision/issues/680")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert good["means"][0] == good["means"][2]
    assert bad["means"][2] < bad["means"][0] - 0.5  # the mean was taken off three times


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        method = classes.methods(cls).get("__getitem__")
        for node in tree.body_nodes(method) if method and classes.kind_of_instances(cls) == "dataset" else ():
            name = _written(node)
            view = _view(source, name) if name is not None else None
            if name is not None and view is not None and values.sure(source, view.value, "tensor", "ndarray"):
                message = (
                    f"`{name.id}` is a view of `{source.code(view.value)}`, so this changes the data set, again in every "
                    f"epoch: make a new one, `{name.id} = {name.id} - ...`, or copy it first"
                )
                yield source.hit(node, message)


def _written(node: ast.AST) -> ast.Name | None:
    """The name whose tensor a statement changes in place."""
    target: ast.AST | None = None
    method = follow.method(node)
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
    elif isinstance(node, ast.Call) and method.endswith("_") and not method.startswith("_"):
        target = tree.receiver(node)
    while isinstance(target, ast.Subscript):
        target = target.value
    return target if isinstance(target, ast.Name) else None


def _view(source: Source, name: ast.Name) -> ast.Subscript | None:
    """`self.data[i]`, where that is what the name stands for."""
    found = [one for one in scopes.reaching(source, name) if one.how != "aug"]
    value = found[0].value if len(found) == 1 and found[0].how == "assign" and not found[0].path else None
    if not isinstance(value, ast.Subscript) or not isinstance(value.value, ast.Attribute):
        return None
    copies = isinstance(value.slice, ast.List | ast.Compare)
    return value if tree.dotted(value.value.value) == "self" and not copies else None


def watch(batch: Batch) -> Alarm | None:
    stored = {
        k: v
        for k, v in getattr(batch.dataset, "__dict__", {}).items()
        if hasattr(v, "_version") and hasattr(v, "untyped_storage")
    }
    versions = {name: tensor._version for name, tensor in stored.items()}  # noqa: SLF001 - autograd's own counter of writes
    seen = batch.memory.setdefault("versions", versions)
    batch.memory["versions"] = versions
    changed = [name for name in versions.keys() & seen.keys() if versions[name] != seen[name]]
    if not changed or not batch.times(3, true=True):
        return None
    message = (
        f"each batch changes the data set's own `{changed[0]}` in place, so every epoch sees other data: copy the sample "
        "in __getitem__ before changing it"
    )
    return Alarm(message, at=batch.record.place)
