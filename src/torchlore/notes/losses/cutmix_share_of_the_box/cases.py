import numpy as np
import torch


def rand_bbox(size, lam):
    height, width = size[2], size[3]
    cut = np.sqrt(1.0 - lam)
    cy, cx = np.random.randint(height), np.random.randint(width)
    y1, y2 = np.clip(cy - int(height * cut) // 2, 0, height), np.clip(cy + int(height * cut) // 2, 0, height)
    x1, x2 = np.clip(cx - int(width * cut) // 2, 0, width), np.clip(cx + int(width * cut) // 2, 0, width)
    return y1, x1, y2, x2


def inside(size, lam):
    height, width = size[2], size[3]
    h, w = int(height * np.sqrt(1.0 - lam)), int(width * np.sqrt(1.0 - lam))
    y, x = np.random.randint(height - h + 1), np.random.randint(width - w + 1)
    return y, x, y + h, x + w


def drawn(model, criterion, images, target):
    lam = np.random.beta(1.0, 1.0)
    order = torch.randperm(len(images))
    y1, x1, y2, x2 = rand_bbox(images.size(), lam)  # trap: cutmix-share-of-the-box
    images[:, :, y1:y2, x1:x2] = images[order, :, y1:y2, x1:x2]
    output = model(images)
    return lam * criterion(output, target) + (1 - lam) * criterion(output, target[order])


def anew(model, criterion, images, target):
    lam = np.random.beta(1.0, 1.0)
    order = torch.randperm(len(images))
    y1, x1, y2, x2 = rand_bbox(images.size(), lam)
    images[:, :, y1:y2, x1:x2] = images[order, :, y1:y2, x1:x2]
    lam = 1 - (y2 - y1) * (x2 - x1) / (images.size(2) * images.size(3))
    output = model(images)
    return lam * criterion(output, target) + (1 - lam) * criterion(output, target[order])


def whole_box(model, criterion, images, target):
    lam = np.random.beta(1.0, 1.0)
    order = torch.randperm(len(images))
    y1, x1, y2, x2 = inside(images.size(), lam)
    images[:, :, y1:y2, x1:x2] = images[order, :, y1:y2, x1:x2]
    output = model(images)
    return lam * criterion(output, target) + (1 - lam) * criterion(output, target[order])


def faces(images, boxes, order):
    y1, x1, y2, x2 = boxes
    images[:, :, y1:y2, x1:x2] = images[order, :, y1:y2, x1:x2]
    return images
