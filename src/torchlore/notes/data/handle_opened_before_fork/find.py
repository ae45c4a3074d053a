"""The rule of handle-opened-before-fork."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, origin, project, tree
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_OPENERS = {"h5py.File", "lmdb.open", "lmdb.Environment", "zipfile.ZipFile", "sqlite3.connect", "tables.open_file", "rasterio.open",
            "tarfile.open", "tarfile.TarFile", "netCDF4.Dataset", "open", "io.open"}  # fmt: skip
_LOADERS = re.compile(r"\bDataLoader\(([^)]*)")
WORDS = ("__getitem__|__iter__", "__init__")


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        methods = classes.methods(cls)
        if not {"__getitem__", "__iter__"} & methods.keys() or not _is_dataset(source, cls.node):
            continue
        if "__init__" not in methods or "__getstate__" in methods:
            continue  # what its base opens is said there
        readers = [methods[name] for name in ("__getitem__", "__iter__") if name in methods]
        used = {node.attr for reader in readers for node in tree.under(source, reader, ast.Attribute)}
        starts, table = _at_the_start(methods), classes.attributes(cls)
        for name, found in table.items():
            made = [one for one in found if one.method in starts and isinstance(one.value, ast.Call | ast.Subscript)]
            if not made or not (name in used or _used_parts(table, name, starts) & used):
                continue
            opened = [one for one in made if _opens(source, one.value) or _part_of_open(source, one.value)]
            gone = [one for one in found if one.method == "__init__" and tree.literal(one.value) is None and one.value]
            if gone and max(getattr(one.node, "lineno", 0) for one in gone) >= _ran_last(methods, opened):
                continue  # dropped again, for each worker to open its own
            if opened and "close" not in _calls_on(methods["__init__"], name) and not _alone(cls):
                told = f"`self.{name}` is opened before the workers exist and shared by all of them: open it in `__getitem__`, once per worker"
                yield source.hit(
                    opened[0].node, told, severity="hint" if _only_reads(source, opened[0].value) else None
                )


def _at_the_start(methods: dict[str, tree.FunctionNode]) -> set[str]:
    """`__init__`, and the methods that it calls: `self._open()`."""
    made = methods.get("__init__")
    ran = [one for one in tree.body_nodes(made) if isinstance(one, ast.Call)] if made is not None else []
    return {"__init__"} | {one.func.attr for one in ran if tree.dotted(one.func).startswith("self.")}  # type: ignore[attr-defined]  # dotted


def _ran_last(methods: dict[str, tree.FunctionNode], opened: list[classes.Attribute]) -> int:
    """The last line of `__init__` that opens it, by itself or in a method."""
    own = [getattr(one.node, "lineno", 0) for one in opened if one.method == "__init__"]
    names = {f"self.{one.method}" for one in opened}
    ran = [
        one.lineno
        for one in tree.body_nodes(methods["__init__"])
        if isinstance(one, ast.Call) and tree.dotted(one.func) in names
    ]
    return max([*own, *ran], default=0)


def _part_of_open(source: Source, value: ast.expr | None) -> bool:
    """`file["x"]` of `file = h5py.File(path)`, which nobody closes: it reads from the file for as long as it lives."""
    part = value
    while isinstance(part, ast.Subscript) and isinstance(tree.literal(part.slice), str):
        part = part.value
    part = part.value if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name) else part  # `file[split]`
    made = follow.followed(source, part) if isinstance(part, ast.Name) and part is not value else None
    home = tree.function(source, part) if part is not None else None
    closed = (tree.dotted(tree.receiver(one)) for one in source.methods("close") if tree.function(source, one) is home)
    return isinstance(made, ast.Call) and source.name(made.func) == "h5py.File" and tree.dotted(part) not in closed  # type: ignore[arg-type]  # a name


def _used_parts(table: dict[str, list[classes.Attribute]], name: str, starts: set[str]) -> set[str]:
    """`self.x = self.file["x"]`: a part of the open file under another name."""
    parts = set()
    for other, found in table.items():
        for one in found:
            part = one.value if one.method in starts else None
            while isinstance(part, ast.Subscript) and isinstance(tree.literal(part.slice), str):
                part = part.value  # `[:]` would read it
            parts |= {other} if part is not None and tree.dotted(part) == f"self.{name}" and other != name else set()
    return parts


def _alone(cls: Class) -> bool:
    """Whether every loader of the files that use it reads without workers, or asks first whether it may have some."""
    users = [*project.candidates(cls.source.project, cls, cls.node.name)]
    loaders = [(user, one) for user in users for one in user.calls("torch.utils.data.DataLoader")]
    own = [(user, one) for user, one in loaders if one.args and _is_of(user, one.args[0], cls)]
    loaders = own or loaders
    counts = [
        follow.followed(at, tree.argument(one, 5, "num_workers") or ast.Constant(0))
        for at, one in loaders
        if tree.argument(one, 5, "num_workers") is not None or (own and tree.lacks(one, 5, "num_workers"))
    ]
    none = (tree.literal(one) == 0 or (isinstance(one, ast.IfExp) and tree.literal(one.orelse) == 0) for one in counts)
    told = [one for user in users for one in re.findall(r"num_workers['\"]?\s*[=:]\s*([\w.]+)", user.text)]
    alone = bool(loaders) and ((len(counts) == len(loaders) and all(none)) or set(told) == {"0"})
    return alone or _nobody_has_workers(cls.source)


def _nobody_has_workers(source: Source) -> bool:
    """Whether the project makes loaders and none of its files says `num_workers`."""
    project = source.project
    texts = [source.text, *(project.text(path) or "" for path in project.importers("torch"))]
    made = [one for text in texts for one in _LOADERS.findall(text)]
    return bool(made) and not any("**" in one for one in made) and not any("num_workers" in one for one in texts)


def _is_of(source: Source, given: ast.expr, cls: Class) -> bool:
    """Whether a loader is given an object of this class: `DataLoader(rows)` behind `rows = Rows(path)`."""
    made = follow.followed(source, given)
    return isinstance(made, ast.Call) and tree.dotted(made.func).rpartition(".")[2] == cls.node.name


def _is_dataset(source: Source, node: ast.ClassDef) -> bool:
    return any(
        source.name(base.value if isinstance(base, ast.Subscript) else base).endswith("Dataset") for base in node.bases
    )


def _opens(source: Source, value: ast.expr | None) -> bool:
    """`h5py.File(path)`, or a method that gives one back: `self._connect()`."""
    home, made = origin.origin(source, value) if isinstance(value, ast.Call) else (source, value)
    return isinstance(made, ast.Call) and home.name(made.func) in _OPENERS


def _only_reads(source: Source, value: ast.expr | None) -> bool:
    """`lmdb.open(..., readonly=True)`: against its documents, yet it works under fork."""
    value = origin.origin(source, value)[1] if isinstance(value, ast.Call) else value
    return isinstance(value, ast.Call) and tree.literal(tree.argument(value, None, "readonly")) is True


def _calls_on(function: ast.AST, name: str) -> set[str]:
    nodes = (
        node for node in ast.walk(function) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)
    )
    return {node.attr for node in nodes if node.value.attr == name}  # type: ignore[attr-defined]  # an Attribute, see above
