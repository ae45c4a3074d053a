"""The rule of boxes-of-another-form."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, follow, grouped, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_OPS = ("box_iou", "generalized_box_iou", "complete_box_iou", "distance_box_iou", "generalized_box_iou_loss",
        "complete_box_iou_loss", "distance_box_iou_loss", "nms", "batched_nms", "box_area", "clip_boxes_to_image",
        "remove_small_boxes")  # fmt: skip
_TURNS = regex(r"(_to_|2)(cxcywh|xywh)$")
_HOPS = 5
WORDS = ("*box*",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*(f"torchvision.ops.{name}" for name in _OPS)):
        if not tree.lacks(call, None, "fmt"):
            continue
        for given in call.args[:2]:
            form = _form(source, given, _HOPS)
            if form:
                told = f"`{source.code(given)}` is {form}, and `{source.code(call.func)}` takes corners"
                yield source.hit(call, f'{told}: give it `box_convert({source.code(given)}, "{form}", "xyxy")`')
                break
    if "bbox" in source.text:
        yield from _of_coco(source)


def _form(source: Source, node: ast.expr, hops: int) -> str:
    """`cxcywh` of what `box_convert(boxes, "xyxy", "cxcywh")` made, on every path; "" where nobody says."""
    while isinstance(node, ast.Subscript) or follow.method(node) in ("to", "cuda", "float", "detach", "clone"):
        node = node.value if isinstance(node, ast.Subscript) else tree.receiver(node)  # type: ignore[arg-type]  # a call
    if isinstance(node, ast.Call):
        name = source.name(node.func)
        if name == "torchvision.ops.box_convert":
            told = tree.literal(tree.argument(node, 2, "out_fmt"))
            return told if told in ("cxcywh", "xywh") else ""  # type: ignore[return-value]  # a text
        turned = _TURNS.search(tree.dotted(node.func))
        return turned[2] if turned is not None else ""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) and hops else []
    found: set[str] = set()
    for one in bound:
        if one.how == "parameter" and isinstance(one.node, ast.arg):
            given = calls.given(source, one.node)
            found |= {_form(at, value, hops - 1) if value is not None else "" for at, value in given} or {""}
        else:
            found.add(_form(source, one.value, hops - 1) if one.how == "assign" and not one.path and one.value else "")
    return found.pop() if len(found) == 1 else ""


def _of_coco(source: Source) -> Iterator[Hit]:
    """`target["boxes"] = torch.tensor([a["bbox"] for a in anns])` of COCO's annotations, for a detector of torchvision."""
    coco = any(
        one.startswith(("pycocotools", "torchvision.datasets.CocoDetection")) for one in source.names.imported.values()
    )
    if not (coco or "CocoDetection" in source.text) or "detection" not in source.text or "wrap_dataset" in source.text:
        return
    for made in source.calls("torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.Tensor"):
        listed = follow.followed(source, made.args[0]) if made.args else None
        if not isinstance(listed, ast.ListComp) or not _plain_bbox(listed.elt):
            continue
        held, home = tree.statement(source, made), tree.function(source, made) or source.tree
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        changed = [
            one for one in grouped.stored(source) if tree.dotted(one.value) == name and tree.inside(source, one, home)
        ]
        turned = "convert" in source.code(home) or "xyxy" in source.code(home) or "BoundingBox" in source.text
        keys = [one for one in tree.under(source, home, ast.Dict, ast.Subscript) if _says_boxes(one, name)]
        if name and keys and not changed and not turned:
            told = "COCO's boxes are (x, y, width, height), and the detector takes corners"
            yield source.hit(made, f'{told}: write `box_convert({name}, "xywh", "xyxy")` below')


def _plain_bbox(item: ast.expr) -> bool:
    return isinstance(item, ast.Subscript) and tree.literal(item.slice) == "bbox"


def _says_boxes(node: ast.AST, name: str) -> bool:
    """`{"boxes": boxes}`, `target["boxes"] = boxes`."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return any(
            key is not None and tree.literal(key) == "boxes" and tree.dotted(value) == name for key, value in pairs
        )
    return isinstance(node, ast.Subscript) and tree.literal(node.slice) == "boxes" and isinstance(node.ctx, ast.Store)
