"""The rule of blue-before-red."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

WORDS = ("cv2", "imread", "torch")
_RGB = re.compile(r"0\.485\s*,|IMAGENET_(DEFAULT_)?MEAN|weights=[\"']?(DEFAULT|IMAGENET|\w+_Weights)|pretrained=True")
_TURNS = re.compile(
    r"cvtColor|BGR|bgr|::\s*-1|\[\s*2\s*,\s*1\s*,\s*0\s*\]|IMREAD_COLOR_RGB|to_rgb|\.flip\(|channel_order"
)
_GOES_ON = re.compile(
    r"transform|(^|\.)(tf|tfm|tfms|aug\w*)$|from_numpy|ToTensor|as_tensor|torch\.tensor|normal|preprocess",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"mask|label|seg|depth|target|gt|annot", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    if not _RGB.search(source.text) or _TURNS.search(source.text):
        return
    for call in source.calls("cv2.imread"):
        flags = tree.argument(call, 1, "flags")
        coloured = flags is None or source.name(flags) == "cv2.IMREAD_COLOR" or tree.literal(flags) == 1
        held = source.parents[call]
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        if not coloured or not name or _OTHERS.search(source.code(held)) or follow.in_test(source, call):
            continue
        if _goes_on(source, call, name):
            told = "OpenCV reads blue, green, red, and the mean and the weights of this file are of RGB"
            yield source.hit(call, f"{told}: write `cv2.cvtColor({source.code(call)}, cv2.COLOR_BGR2RGB)`")


def _goes_on(source: Source, call: ast.Call, name: str) -> bool:
    """Whether the picture is given to what makes a tensor of it."""
    home = tree.function(source, call) or source.tree
    calls = (one for one in tree.under(source, home, ast.Call) if _GOES_ON.search(source.code(one.func)))
    return any(
        tree.dotted(part) == name for one in calls for part in (*one.args, *(word.value for word in one.keywords))
    )
