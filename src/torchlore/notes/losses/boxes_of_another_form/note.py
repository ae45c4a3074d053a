"""torchvision's boxes are corners, `(x1, y1, x2, y2)`: from centres and widths it cuts other boxes.

COCO's annotations say `(x, y, width, height)`, DETR and YOLO predict centres and sizes, all of them four numbers. Handed to
`generalized_box_iou`, `nms` or a detector of torchvision as they are, the third and fourth number count as a corner. Boxes near the
upper left look almost right, the others are cut or turned inside out, the loss falls to some value and the mAP stays near 0.

Convert where the data come in, or right at the call:

```python
boxes = torchvision.ops.box_convert(boxes, in_fmt="xywh", out_fmt="xyxy")
giou = generalized_box_iou(box_convert(pred, "cxcywh", "xyxy"), box_convert(true, "cxcywh", "xyxy"))
```
"""

ROWS = ()
SOURCES = ("https://github.com/stevebottos/owl-vit-object-detection/issues/14",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["right"] == 0
    assert good["right"] == 1
