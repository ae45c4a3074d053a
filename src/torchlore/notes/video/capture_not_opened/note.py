"""OpenCV never raises: a file that does not open reads as a video of no frames.

`cv2.VideoCapture(path)` returns an object whatever happens. For a missing file every property is 0 or -1, depending on
the release, and the loop over the frames runs zero times: the clip is silently dropped, or counts as empty. A text file
may even open as a "video". The properties are what the header claims: a truncated file promises frames that cannot be
decoded. `int(fps)` turns 29.97 into 29, so that times drift by a second in half a minute. Frames come as BGR.

Ask `isOpened()` and raise, keep the frame rate a float, count what you decode, and turn frames over with
`frame[:, :, ::-1].copy()` before a model that was trained on RGB. PyAV and torchcodec raise by themselves;
`torchlore.recipes.video` reads with PyAV. (`torchvision.io.read_video` is gone.)
"""

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
