"""The rule of pixels-scaled-twice."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, scopes, tree
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source

_TOTENSOR = ("torchvision.transforms.ToTensor", "torchvision.transforms.v2.ToTensor")
_FUNCTIONS = ("torchvision.transforms.functional.to_tensor", "torchvision.transforms.v2.functional.to_tensor")
_READS = ("cv2.imread", "numpy.array", "numpy.asarray", "PIL.Image.open", "skimage.io.imread", "imageio.imread")
WORDS = ("torchvision", "ToTensor|to_tensor")


def find(source: Source) -> Iterator[Hit]:
    divisions = [(one, one.op, one.left, one.right) for one in source.all(ast.BinOp)]
    in_place = [(one, one.op, one.target, one.value) for one in source.all(ast.AugAssign)]
    for node, op, left, right in (*divisions, *in_place):
        if isinstance(op, ast.Div) and tree.literal(right) in (255, 255.0) and _is_scaled(source, left):
            told = f"`{source.code(left)}` was scaled by ToTensor already: leave the division by 255 out"
            yield source.hit(node, told, severity="warning")  # of floats it scales nothing
    yield from _in_the_list(source) if "255" in source.text else ()
    seen: set[ast.AST] = set()
    for call in source.all(ast.Call) if "astype" in source.text or "array" in source.text else ():
        given = call.args[0] if len(call.args) == 1 else None
        cast = _float_picture(source, given) if given is not None else None
        if cast is not None and cast not in seen and _scales(source, call.func, last=False):
            seen.add(cast)
            told = f"ToTensor (line {call.lineno}) scales bytes only, and `{source.code(cast)}` is float: pass the uint8 picture"
            yield source.hit(cast, told)


def _in_the_list(source: Source) -> Iterator[Hit]:
    """`[ToTensor(), Lambda(lambda x: x / 255)]`: the steps of one Compose."""
    for steps in source.all(ast.List, ast.Tuple):
        parts: list[ast.expr] = getattr(steps, "elts", [])
        names = [source.name(one.func) if isinstance(one, ast.Call) else "" for one in parts]
        first = next((index for index, name in enumerate(names) if name in _TOTENSOR), len(names))
        drawn = any(name.endswith((".PILToTensor", ".ToImage")) for name in names)
        for step, name in [*zip(parts, names, strict=True)][first + 1 :]:
            if name.endswith(".Normalize") or drawn:
                break
            given = step.args[0] if isinstance(step, ast.Call) and name.endswith(".Lambda") and step.args else None
            body = given.body if isinstance(given, ast.Lambda) else None
            own = [one.arg for one in given.args.args] if isinstance(given, ast.Lambda) else []
            divides = isinstance(body, ast.BinOp) and isinstance(body.op, ast.Div)
            if divides and isinstance(body, ast.BinOp) and tree.dotted(body.left) in own and _is_255(body.right):
                told = f"ToTensor scaled the pixels to 0 … 1 already, and `{source.code(body)}` does so again: leave this step out"
                yield source.hit(step, told, severity="warning")  # of floats ToTensor scales nothing


def _is_255(node: ast.expr) -> bool:
    return tree.literal(node) in (255, 255.0)


def _scales(source: Source, func: ast.expr, *, last: bool = True) -> bool:
    """Whether calling it runs ToTensor: the function, the transform, or a Compose with it; `last`: and nothing moves it again."""
    if source.name(func) in _FUNCTIONS:
        return True
    made = [
        one.node
        for one in source.values(func)
        if one.kind == "transform" and isinstance(one.node, ast.Call) and one.source is source
    ]
    return (
        bool(made)
        and len(made) == len(source.values(func))
        and all(_has_totensor(source, one, last=last) for one in made)
    )


def _has_totensor(source: Source, call: ast.Call, *, last: bool) -> bool:
    if source.name(call.func) in _TOTENSOR:
        return True
    parts = follow.followed(source, call.args[0]) if call.args else None
    steps = [one for one in getattr(parts, "elts", []) if isinstance(one, ast.Call)]
    shifts = [one for one in steps if source.name(one.func).endswith(".Normalize")]
    moved = last and not all(_by_about_one(one) for one in shifts)
    return any(source.name(one.func) in _TOTENSOR for one in steps) and not moved


def _by_about_one(call: ast.Call) -> bool:
    """`Normalize(mean, (0.229, 0.224, 0.225))`, after which nothing is as large as 255; a std of 1 / 255 is another matter."""
    std = tree.literal(tree.argument(call, 1, "std"))
    return isinstance(std, tuple) and all(isinstance(one, int | float) and one >= 0.05 for one in std)


def _is_scaled(source: Source, node: ast.expr, hops: int = 6) -> bool:
    if isinstance(node, ast.Name) and hops:
        found = scopes.reaching(source, node)
        return bool(found) and all(
            one.how == "assign" and one.value is not None and not one.path and _is_scaled(source, one.value, hops - 1)
            for one in found
        )
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not _scales(source, node.func):
        return False
    made = follow.followed(source, node.args[0])
    if not isinstance(made, ast.Call) or not made.args:
        return True
    return not _cast(source, made)[1].startswith("float") and not any(_floats(source, one) for one in made.args)


def _floats(source: Source, node: ast.expr) -> bool:
    """`np.zeros((224, 224, 3), np.float32)`, to draw on: of floats it scales nothing."""
    made = follow.followed(source, node)
    blank = isinstance(made, ast.Call) and source.name(made.func) in ("numpy.zeros", "numpy.ones", "numpy.full")
    return blank and "int" not in source.code(made)


def _float_picture(source: Source, node: ast.expr) -> ast.Call | None:
    """The cast that made pixels of 0 to 255 floats after reading: in place, or into an attribute of the class."""
    made = follow.followed(source, node)
    if isinstance(made, ast.Subscript) and (kept := _attribute(source, made.value)) is not None:
        made = kept
    if not isinstance(made, ast.Call) or not made.args:
        return None
    read, kind = _cast(source, made)
    return made if kind.startswith("float") and read is not None and _are_bytes(source, read, made) else None


def _cast(source: Source, made: ast.Call) -> tuple[ast.expr | None, str]:
    """What is cast to which type: `x.astype(t)`, `np.array(x, dtype=t)`."""
    if follow.method(made) == "astype":
        return tree.receiver(made), source.name(made.args[0]).rpartition(".")[2] or str(tree.literal(made.args[0]))
    dtype = tree.argument(made, 1, "dtype") if source.name(made.func) in ("numpy.array", "numpy.asarray") else None
    kind = source.name(dtype).rpartition(".")[2] or str(tree.literal(dtype)) if dtype is not None else ""
    return made.args[0], kind


def _are_bytes(source: Source, read: ast.expr, cast: ast.Call) -> bool:
    """Read from a picture, or whole numbers made beside a 255."""
    found = follow.followed(source, read)
    while isinstance(found, ast.Call) and follow.method(found) in ("convert", "resize", "copy", "reshape"):
        found = follow.followed(source, tree.receiver(found))
    if not isinstance(found, ast.Call):
        return False
    if source.name(found.func) in _READS:
        return source.name(found.func) not in ("numpy.array", "numpy.asarray") or _are_bytes(
            source, found.args[0], cast
        )
    drawn = follow.method(found) in ("integers", "randint")
    home = tree.function(source, cast) or source.tree
    full = any(isinstance(node, ast.Constant) and node.value in (255, 256) for node in ast.walk(home))
    return drawn and full


def _attribute(source: Source, node: ast.expr) -> ast.expr | None:
    """What the class puts into `self.pixels`, where it does so once."""
    cls = enclosing_class(source, node) if tree.dotted(node).startswith("self.") else None
    found = classes.assigned(cls, tree.dotted(node)[5:]) if cls is not None else []
    return found[0].value if len(found) == 1 and found[0].source is source else None
