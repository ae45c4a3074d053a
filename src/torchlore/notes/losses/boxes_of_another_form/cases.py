import torch
import torchvision
from pycocotools.coco import COCO
from torch.utils.data import Dataset
from torchvision.models.detection import fasterrcnn_resnet50_fpn
from torchvision.ops import box_convert, box_iou, nms


class Plain(Dataset):
    def __init__(self, path):
        self.coco = COCO(path)
        self.ids = sorted(self.coco.getImgIds())

    def __getitem__(self, i):
        anns = self.coco.loadAnns(self.coco.getAnnIds(imgIds=self.ids[i]))
        boxes = torch.as_tensor([a["bbox"] for a in anns], dtype=torch.float32)  # trap: boxes-of-another-form
        labels = torch.as_tensor([a["category_id"] for a in anns])
        return self.ids[i], {"boxes": boxes, "labels": labels}


class Corners(Plain):
    def __getitem__(self, i):
        anns = self.coco.loadAnns(self.coco.getAnnIds(imgIds=self.ids[i]))
        boxes = torch.as_tensor([a["bbox"] for a in anns], dtype=torch.float32)
        boxes[:, 2:] += boxes[:, :2]
        return self.ids[i], {"boxes": boxes, "labels": torch.ones(len(boxes), dtype=torch.int64)}


class Told(Plain):
    def __getitem__(self, i):
        anns = self.coco.loadAnns(self.coco.getAnnIds(imgIds=self.ids[i]))
        boxes = torch.as_tensor([[x, y, x + w, y + h] for x, y, w, h in (a["bbox"] for a in anns)])
        return self.ids[i], {"boxes": boxes, "labels": torch.ones(len(boxes), dtype=torch.int64)}


def detector():
    return fasterrcnn_resnet50_fpn(num_classes=3)


def xyxy_to_xywh(boxes):
    return torch.cat([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], 1)


def keep(boxes, scores):
    written = xyxy_to_xywh(boxes)
    first = nms(written, scores, 0.5)  # trap: boxes-of-another-form
    second = nms(boxes, scores, 0.5)
    return written[first], written[second]


def match(pred, true):
    pred, true = box_convert(pred, "cxcywh", "xyxy"), box_convert(true, "xywh", "xyxy")
    same = torchvision.ops.box_convert(true, in_fmt="xyxy", out_fmt="xyxy")
    return box_iou(pred, true) + box_iou(pred, same)
