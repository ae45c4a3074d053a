import cv2
import torch


class Frames(torch.utils.data.Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        cap = cv2.VideoCapture(self.paths[index])  # trap: capture-not-opened
        frames = []
        for _ in range(int(cap.get(cv2.CAP_PROP_FRAME_COUNT))):
            ok, frame = cap.read()
            if ok:
                frames.append(torch.from_numpy(frame[:, :, ::-1].copy()))
        return frames


def properties(mp4_path):
    video = cv2.VideoCapture(mp4_path)  # trap: capture-not-opened
    height = int(video.get(cv2.CAP_PROP_FRAME_HEIGHT))
    video.release()
    return height


class Reader:
    def __init__(self, path):
        self.stream = cv2.VideoCapture(path)  # trap: capture-not-opened

    def next(self):
        return self.stream.read()


def checked(path):
    reader = cv2.VideoCapture(path)
    if not reader.isOpened():
        return None
    return reader.read()


def raises(path):
    source = cv2.VideoCapture(path)
    ok, frame = source.read()
    if not ok:
        raise OSError(path)
    return frame


def camera():
    webcam = cv2.VideoCapture(0)
    return webcam.read()


def handed_on(path, decode):
    clip = cv2.VideoCapture(path)
    return decode(clip)


film = cv2.VideoCapture("film.mp4")  # trap: capture-not-opened
while film.grab():
    print(film.get(cv2.CAP_PROP_POS_FRAMES))
