import tempfile

import cv2
import numpy as np


def write(path: str, frames: int = 12) -> None:
    out = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), 29.97, (64, 48))
    for i in range(frames):
        out.write(np.full((48, 64, 3), i * 20, dtype=np.uint8))
    out.release()


def count_frames(path: str) -> tuple[int, float]:
    video = cv2.VideoCapture(path)
    if not video.isOpened():
        raise FileNotFoundError(path)
    fps = video.get(cv2.CAP_PROP_FPS)
    count = 0
    while video.read()[0]:
        count += 1
    video.release()
    return count, fps


counts, missing = [], 0
with tempfile.TemporaryDirectory() as folder:
    write(f"{folder}/b.avi")
    for name in "ab":
        try:
            counts.append(count_frames(f"{folder}/{name}.avi"))
        except FileNotFoundError:
            missing += 1

result = {"frames": [count for count, _ in counts], "fps": counts[-1][1], "missing": missing}
