import tempfile

import cv2
import numpy as np


def write(path, frames=12):
    out = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), 29.97, (64, 48))
    for i in range(frames):
        out.write(np.full((48, 64, 3), i * 20, dtype=np.uint8))
    out.release()


def count_frames(path):
    video = cv2.VideoCapture(path)  # trap: capture-not-opened
    fps = video.get(cv2.CAP_PROP_FPS)
    count = 0
    while True:
        ok, frame = video.read()
        if not ok:
            break
        count += 1
    video.release()
    return count, fps


with tempfile.TemporaryDirectory() as folder:
    write(f"{folder}/b.avi")
    counts = [count_frames(f"{folder}/{name}.avi") for name in "ab"]

result = {"frames": [count for count, _ in counts], "fps": counts[-1][1]}
