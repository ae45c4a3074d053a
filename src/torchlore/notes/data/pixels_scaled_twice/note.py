"""`ToTensor` scales bytes to [0, 1] and floats not at all: divide by 255 once, and only once.

`ToTensor()` and `ToDtype(float32, scale=True)` divide uint8 pixels by 255. A second `/ 255` afterwards leaves a picture
between 0 and 0.004: nearly black, and after `Normalize` nearly constant. A float array is passed through as it is: pixels
of 0 to 255 that were cast with `.astype("float32")` first stay 0 to 255.

Let one place scale, and let it see bytes: `v2.ToImage(), v2.ToDtype(torch.float32, scale=True)` on the uint8 picture.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pkmital/pycadl/pull/5", "https://github.com/pytorch/vision/issues/546")
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "error"
_TOTENSOR = ("torchvision.transforms.ToTensor", "torchvision.transforms.v2.ToTensor")
_FUNCTIONS = ("torchvision.transforms.functional.to_tensor", "torchvision.transforms.v2.functional.to_tensor")
_READS = ("cv2.imread", "numpy.array", "numpy.asarray", "PIL.Image.open", "skimage.io.imread", "imageio.imread")


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import numpy as np
    from torchvision.transforms import ToTensor

    assert bad["brightest"] < 0.005
    assert good["brightest"] == 1.0
    bytes_ = np.full((2, 2, 1), 255, dtype=np.uint8)
    assert float(ToTensor()(bytes_).max()) == 1.0
    assert float(ToTensor()(bytes_.astype(np.float32)).max()) == 255.0  # floats are not scaled


def find(source: Source) -> Iterator[Hit]:
    if "torchvision" not in source.text:
        return
    divisions = [(one, one.op, one.left, one.right) for one in source.all(ast.BinOp)]
    in_place = [(one, one.op, one.target, one.value) for one in source.all(ast.AugAssign)]
    for node, op, left, right in (*divisions, *in_place):
        if isinstance(op, ast.Div) and tree.literal(right) in (255, 255.0) and _is_scaled(source, left):
            yield source.hit(node, f"`{source.code(left)}` lies between 0 and 1 already: leave the division by 255 out")
    for call in source.all(ast.Call):
        given = call.args[0] if len(call.args) == 1 else None
        if given is not None and _scales(source, call.func) and _is_float_picture(source, given):
            yield source.hit(
                call, f"ToTensor scales bytes only, and `{source.code(given)}` is float: pass the uint8 picture"
            )


def _scales(source: Source, func: ast.expr) -> bool:
    """Whether calling it runs ToTensor: the function, the transform, or a Compose that begins with it."""
    if source.name(func) in _FUNCTIONS:
        return True
    made = [
        one.node
        for one in source.values(func)
        if one.kind == "transform" and isinstance(one.node, ast.Call) and one.source is source
    ]
    return bool(made) and len(made) == len(source.values(func)) and all(_has_totensor(source, one) for one in made)


def _has_totensor(source: Source, call: ast.Call) -> bool:
    if source.name(call.func) in _TOTENSOR:
        return True
    parts = follow.followed(source, call.args[0]) if call.args else None
    kinds = [source.name(one.func) for one in getattr(parts, "elts", []) if isinstance(one, ast.Call)]
    return any(one in _TOTENSOR for one in kinds) and not any(one.endswith(".Normalize") for one in kinds)


def _is_scaled(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        found = scopes.reaching(source, node)
        return bool(found) and all(
            one.how == "assign" and one.value is not None and not one.path and _is_scaled(source, one.value)
            for one in found
        )
    return isinstance(node, ast.Call) and len(node.args) == 1 and _scales(source, node.func)


def _is_float_picture(source: Source, node: ast.expr) -> bool:
    cast = follow.followed(source, node)
    if not (
        isinstance(cast, ast.Call) and isinstance(cast.func, ast.Attribute) and cast.func.attr == "astype" and cast.args
    ):
        return False
    kind = source.name(cast.args[0]).rpartition(".")[2] or str(tree.literal(cast.args[0]))
    read = follow.followed(source, cast.func.value)
    return kind.startswith("float") and isinstance(read, ast.Call) and source.name(read.func) in _READS
