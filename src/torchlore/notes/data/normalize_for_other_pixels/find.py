"""The rule of normalize-for-other-pixels."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

_ROOMS = ("torchvision.transforms.", "torchvision.transforms.v2.")
_NORMALIZE = tuple(f"{room}Normalize" for room in _ROOMS)
_MOVES = ("Lambda", "PILToTensor", "Normalize", "ToDtype")


def find(source: Source) -> Iterator[Hit]:
    if "Normalize" not in source.text or "ToTensor" not in source.text:
        return
    boxes: list[ast.List | ast.Tuple] = [*source.all(ast.List), *source.all(ast.Tuple)]
    for box in boxes:
        steps = [one for one in box.elts if isinstance(one, ast.Call)]
        names = [source.name(one.func) for one in steps]
        for place, (call, name) in enumerate(zip(steps, names, strict=True)):
            scaled = [
                at for at, other in enumerate(names[:place]) if other in tuple(f"{room}ToTensor" for room in _ROOMS)
            ]
            if name not in _NORMALIZE or not scaled or len(steps) != len(box.elts):
                continue
            between = names[scaled[-1] + 1 : place]
            if not any(other.rpartition(".")[2] in _MOVES or not other for other in between) and _large(source, call):
                told = "ToTensor gives pixels between 0 and 1, and these are the numbers of pixels up to 255: divide both by 255"
                arrays = "h5py" in source.text or "np.load" in source.text  # ToTensor leaves floats as they are
                yield source.hit(call, told, severity="warning" if arrays else None)


def _large(source: Source, call: ast.Call) -> bool:
    """Whether a mean of more than 2 is given, as it stands or by a name."""
    given = tree.argument(call, 0, "mean")
    mean = tree.literal(follow.followed(source, given)) if given is not None else None
    numbers = mean if isinstance(mean, tuple | list) else (mean,)
    return any(isinstance(one, int | float) and one > 2 for one in numbers)
