import cv2
import torch
import torch.nn.functional as F
import torchvision.transforms.functional as TF
from torchvision.transforms import InterpolationMode


def bad(gt, seg_mask, image):
    target = F.interpolate(gt[None, None].float(), scale_factor=0.5, mode="bicubic")[0, 0].to(torch.int64)  # trap: label-map-interpolated
    smaller = F.interpolate(gt.float(), size=64, mode="bilinear")  # trap: label-map-interpolated
    smaller = smaller.squeeze(1).long()
    return target, smaller, cv2.resize(seg_mask, (64, 64))


class Pairs:
    def __init__(self, pairs):
        self.pairs = pairs

    def __getitem__(self, index):
        image, mask = self.pairs[index]
        image, mask = TF.resize(image, [64, 64]), TF.resize(mask, [64, 64])  # trap: label-map-interpolated
        seg_mask = self.pairs[index][2]
        seg_mask = cv2.resize(seg_mask, (64, 64))  # trap: label-map-interpolated
        return image, mask, seg_mask


def fine(gt, mask, image, logits):
    image = TF.resize(image, [64, 64])
    mask = TF.resize(mask, [64, 64], interpolation=InterpolationMode.NEAREST)
    mask = cv2.resize(mask, (64, 64), interpolation=cv2.INTER_NEAREST)
    logits = F.interpolate(logits, size=(64, 64), mode="bilinear", align_corners=False)
    predicted = F.interpolate(logits, size=(64, 64), mode="bilinear").argmax(1).long()
    target = F.interpolate(gt.float(), size=64, mode="nearest").long()
    return image, mask, predicted, target
