"""OpenCV never raises: a file that does not open reads as a video of no frames.

`cv2.VideoCapture(path)` returns an object whatever happens. For a missing file every property is 0 or -1, depending on
the release, and the loop over the frames runs zero times: the clip is silently dropped, or counts as empty. A text file
may even open as a "video". The properties are what the header claims: a truncated file promises frames that cannot be
decoded. `int(fps)` turns 29.97 into 29, so that times drift by a second in half a minute. Frames come as BGR.

Ask `isOpened()` and raise, keep the frame rate a float, count what you decode, and turn frames over with
`frame[:, :, ::-1].copy()` before a model that was trained on RGB. PyAV and torchcodec raise by themselves;
`torchlore.recipes.video` reads with PyAV. (`torchvision.io.read_video` is gone.)
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

ROWS = ("video-cv2-props",)
SOURCES = ("003:293-302",)
TORCH = "2.11, 2.15"
NEEDS = ("cv2",)
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["frames"] == [0, 12]  # the missing clip is an empty one
    assert good["frames"] == [12]
    assert good["missing"] == 1
    assert 29.9 < float(str(good["fps"])) < 30.0
    assert int(float(str(good["fps"]))) == 29


WORDS = ("VideoCapture",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("cv2.VideoCapture"):
        held = source.parents[call]
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        name = tree.dotted(target) if target is not None else ""
        given = tree.argument(call, 0, "filename")
        if not name or given is None or isinstance(tree.literal(given), int) or _asked(source, call, name):
            continue
        yield source.hit(
            call,
            f"a file that does not open gives an object without frames and no error: check `{name}.isOpened()` and raise",
            severity="hint" if _shown(source, call) else None,
        )


def _shown(source: Source, call: ast.Call) -> bool:
    """A demo that shows what it reads: a film without frames is seen at once."""
    home: ast.AST = tree.function(source, call) or source.tree
    counted = any(_counts(source, one.iter) for one in tree.body_nodes(home) if isinstance(one, ast.For))
    silent = counted or any(isinstance(one, ast.While) for one in tree.body_nodes(home))  # else a frame of None raises
    return "cv2.imshow" in source.text or "waitKey" in source.text or not silent


def _counts(source: Source, over: ast.expr) -> bool:
    """`range(frames)` with `frames = int(clip.get(cv2.CAP_PROP_FRAME_COUNT))`: no turn at all for a missing file."""
    names = [follow.followed(source, one) for one in ast.walk(over) if isinstance(one, ast.Name)]
    return any(follow.method(part) == "get" for one in [over, *names] for part in ast.walk(one))


def _asked(source: Source, call: ast.Call, name: str) -> bool:
    """Whether `isOpened` is called on it, it is handed on, or a failed read raises."""
    short = name.rpartition(".")[2]
    if any(tree.dotted(tree.receiver(one)).endswith(short) for one in source.methods("isOpened")):
        return True
    home: ast.AST = tree.function(source, call) or source.tree
    raising = any(isinstance(one, ast.Raise | ast.Assert) for one in tree.body_nodes(home))
    handed = any(tree.dotted(arg) == name for one in source.all(ast.Call) for arg in one.args)
    returned = any(one.value is not None and tree.dotted(one.value) == name for one in source.all(ast.Return))
    return raising or handed or returned
