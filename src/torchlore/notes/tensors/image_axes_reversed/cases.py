"""Other spellings of image-axes-reversed, and code that only looks like it."""
import cv2
import numpy as np
import torch


def load(path, images: torch.Tensor, frame: torch.Tensor):
    picture = cv2.imread(path)
    a = torch.from_numpy(picture.transpose(2, 1, 0))  # trap: image-axes-reversed
    b = np.transpose(picture, (2, 1, 0))  # trap: image-axes-reversed
    c = images.permute(0, 3, 2, 1)  # trap: image-axes-reversed
    d = frame.transpose(0, 2)  # trap: image-axes-reversed
    return a, b, c, d


# clean
def fine(path, images: torch.Tensor, image: torch.Tensor, scores: torch.Tensor, volume):
    picture = cv2.imread(path)
    a = torch.from_numpy(picture.transpose(2, 0, 1))
    b = images.permute(0, 3, 1, 2)
    c = image.permute(1, 2, 0)
    d = image.transpose(0, 2).transpose(1, 2)
    e = scores.permute(2, 1, 0)
    f = volume.transpose(2, 1, 0)
    g = scores.transpose(0, 2)
    return a, b, c, d, e, f, g, image.transpose(1, 2)


def video(reader, size):
    frames = torch.empty(len(reader), 3, *size)  # size is (width, height) here
    for i, frame in enumerate(reader):
        frame = torch.from_numpy(frame).float()
        frames[i] = torch.transpose(frame, 0, 2)
    return frames
