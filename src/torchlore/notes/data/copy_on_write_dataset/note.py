"""A big list of Python objects in a dataset is copied into every worker, page by page.

Forked workers share the parent's memory until somebody writes. Reading a Python object writes: it changes the object's
reference count. So a list of a million paths or dicts, touched once by each of 16 workers, ends up in memory 16 times;
the run grows through the first epoch and is killed by the system.

Keep the data in one block that has no reference counts inside: a tensor, a NumPy array (of fixed-width strings or of
bytes with offsets), an Arrow table. `torchlore.recipes.data.PackedStrings` does it for strings.
"""

import ast
from collections.abc import Iterator

from torchlore.check import classes, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/13246",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"
_READS = ("json.load", "json.loads", "pickle.load", "csv.reader", "csv.DictReader", "yaml.safe_load")
_LINES = ("readlines", "splitlines", "to_dict", "to_records")
WORDS = ("__getitem__",)


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["objects"] > 1000
    assert good["objects"] <= 3
    assert bad["sample"] == good["sample"]


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        getitem = classes.methods(cls).get("__getitem__")
        if getitem is None or classes.kind_of_instances(cls) != "dataset":
            continue
        used = {one.attr for one in tree.under(source, getitem, ast.Attribute)}
        for name, found in classes.own_attributes(cls).items():
            held = found if name in used else ()
            big = next((one for one in held if one.value is not None and _is_big(source, one.value)), None)
            if big is not None and isinstance(big.node, ast.Attribute) and classes.read_by_workers(cls):
                yield source.hit(
                    big.node,
                    f"every worker ends up with its own copy of `self.{name}`, because reading Python objects writes their "
                    "reference counts: keep it in an array, a tensor or PackedStrings",
                )


def _is_big(source: Source, value: ast.expr) -> bool:
    """Whether it reads a file into Python objects."""
    if isinstance(value, ast.ListComp) and isinstance(value.generators[0].iter, ast.Name | ast.Call):
        return _is_file(source, value.generators[0].iter)
    if isinstance(value, ast.Call) and source.name(value.func) in (*_READS, "list") and value.args:
        return source.name(value.func) != "list" or _is_big(source, value.args[0])
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _LINES


def _is_file(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return source.name(node.func) in ("open", *_READS) or _is_big(source, node)
    return any(value.kind == "file" for value in source.values(node))
