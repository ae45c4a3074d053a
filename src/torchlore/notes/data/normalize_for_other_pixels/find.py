"""The rule of normalize-for-other-pixels."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, follow, pixels, project, tree
from torchlore.check.source import Hit, Source

_ROOMS = ("torchvision.transforms.", "torchvision.transforms.v2.")
_NORMALIZE = tuple(f"{room}Normalize" for room in _ROOMS)
_TOTENSOR = tuple(f"{room}ToTensor" for room in _ROOMS)
_ARRAYS = ("numpy.array", "numpy.asarray", "torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.Tensor")
_MOVES_DATA = ("torch.from_numpy", "torch.as_tensor", "torch.tensor", "numpy.ascontiguousarray", "numpy.transpose")
_MOVES = ("Lambda", "PILToTensor", "Normalize", "ToDtype")
WORDS = ("*485*|Normalize", "*485*|ToTensor")


def find(source: Source) -> Iterator[Hit]:
    if "0.485" in source.text:
        yield from _bytes_as_fractions(source)
    for call in source.calls(*_NORMALIZE):
        box = source.parents[call]
        steps = box.elts if isinstance(box, ast.List | ast.Tuple) else []
        names = [source.name(one.func) for one in steps if isinstance(one, ast.Call)]
        place = steps.index(call) if steps else 0
        scaled = [at for at, other in enumerate(names[:place]) if other in _TOTENSOR]
        if not scaled or len(steps) != len(names):
            continue
        between = names[scaled[-1] + 1 : place]
        if not any(other.rpartition(".")[2] in _MOVES or not other for other in between) and _large(source, call):
            told = "ToTensor gives pixels between 0 and 1, and these are the numbers of pixels up to 255: divide both by 255"
            arrays = "h5py" in source.text or "np.load" in source.text  # ToTensor leaves floats as they are
            yield source.hit(call, told, severity="warning" if arrays else None)


def _bytes_as_fractions(source: Source) -> Iterator[Hit]:
    """`(picture.astype(np.float32) - mean) / std` and `F.normalize(picture.float(), mean, std)` of bytes, with ImageNet's mean."""
    told = "holds pixels of 0 to 255, and these are the mean and deviation of pixels between 0 and 1: divide it by 255 first"
    for less in source.all(ast.BinOp):
        if isinstance(less.op, ast.Sub) and _of_imagenet(source, less.right) and _unscaled(source, less.left):
            yield source.hit(less, f"`{source.code(less.left)}` {told}")
    for call in source.calls("torchvision.transforms.functional.normalize"):
        given, mean = tree.argument(call, 0, "tensor"), tree.argument(call, 1, "mean")
        if given is not None and mean is not None and _of_imagenet(source, mean) and _unscaled(source, given):
            yield source.hit(call, f"`{source.code(given)}` {told}")


def _of_imagenet(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """Whether this is (0.485, 0.456, 0.406), as it stands or as an array, whatever its shape."""
    while hops:
        hops -= 1
        node = follow.followed(source, node)
        if tree.literal(node) == (0.485, 0.456, 0.406):
            return True
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Attribute) and tree.dotted(node) == f"self.{node.attr}":
            owner = project.enclosing_class(source, node)
            kept = classes.assigned(owner, node.attr) if owner is not None else []
            if len(kept) != 1 or kept[0].value is None or kept[0].source is not source:
                return False
            node = kept[0].value
        elif isinstance(node, ast.Call) and source.name(node.func) in _ARRAYS and node.args:
            node = node.args[0]
        elif isinstance(node, ast.Call) and follow.method(node) in ("view", "reshape", "to", "astype"):
            node = tree.receiver(node)
        else:
            return False
    return False


def _unscaled(source: Source, node: ast.expr, hops: int = 6) -> bool:
    """Whether these are bytes that became floats without a division."""
    while hops:
        hops -= 1
        if isinstance(node, ast.Name) and follow.written_into(source, node):
            return False  # `x.div_(255)`
        node = follow.followed(source, node)
        word = follow.method(node)
        full = source.name(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and word in ("astype", "float", "to") and not full:
            node = tree.receiver(node)
        elif (
            isinstance(node, ast.Call)
            and full in ("numpy.float32", "numpy.asarray", "numpy.array", *_MOVES_DATA)
            and node.args
        ):
            if pixels.is_bytes(source, node):
                return True
            node = node.args[0]
        elif (
            isinstance(node, ast.Call)
            and word in ("transpose", "permute", "copy", "unsqueeze", "contiguous")
            and not full
        ):
            node = tree.receiver(node)
        else:
            break
    return pixels.is_bytes(source, node) or pixels.is_opened(
        source, node
    )  # of three colours, or the mean would not fit


def _large(source: Source, call: ast.Call) -> bool:
    """Whether a mean of more than 2 is given, as it stands or by a name."""
    given = tree.argument(call, 0, "mean")
    mean = tree.literal(follow.followed(source, given)) if given is not None else None
    numbers = mean if isinstance(mean, tuple | list) else (mean,)
    return any(isinstance(one, int | float) and one > 2 for one in numbers)
