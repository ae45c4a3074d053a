"""`WeightedRandomSampler` wants one weight for each sample, not one for each class.

Given the weights of two classes it draws the indices 0 and 1 only: the network trains on two samples, over and over, and
the loss falls beautifully. Nothing compares the number of weights with the length of the dataset.

Look the weight of each sample up by its label: `WeightedRandomSampler(class_weights[labels], num_samples=len(labels))`.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import scopes, tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/deep-voice/soundbay/pull/49",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_CLASSES = re.compile(
    r"^(?:cls|class|label|category)_?(?:weights?|w|wts?|freqs?|counts?)$|^weights?_?(?:per|by)_?class$"
)


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["different_samples"] == 2
    assert good["different_samples"] > 50


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.data.WeightedRandomSampler"):
        given = tree.argument(call, 0, "weights")
        if given is not None and _per_class(source, given):
            code = source.code(given)
            yield source.hit(
                call,
                f"`{code}` has one weight a class, so only the first samples are drawn: give one a sample, `{code}[labels]`",
            )


def _per_class(source: Source, node: ast.expr, hops: int = 12) -> bool:
    """Whether this is made of counts of classes and never looked up by label."""
    if not hops:
        return False
    if isinstance(node, ast.Call):
        return _call_per_class(source, node, hops - 1)
    if isinstance(node, ast.BinOp):
        return _per_class(source, node.left, hops - 1) or _per_class(source, node.right, hops - 1)
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    value = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
    if isinstance(value, ast.List | ast.ListComp | ast.Subscript) and isinstance(node, ast.Name):
        return _named(source, node, value)
    return value is not None and _per_class(source, value, hops - 1)


def _call_per_class(source: Source, call: ast.Call, hops: int) -> bool:
    name = tree.dotted(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    if name in ("tensor", "as_tensor", "from_numpy", "DoubleTensor", "FloatTensor", "list") and call.args:
        return _per_class(source, call.args[0], hops)
    passed_on = name in ("float", "double", "to", "tolist") and isinstance(call.func, ast.Attribute)
    return name == "bincount" or (passed_on and _per_class(source, tree.receiver(call), hops))


def _named(source: Source, node: ast.Name, value: ast.expr) -> bool:
    """A list named after classes, and not one that is looked up by label."""
    if isinstance(value, ast.ListComp):
        looked_up = any(isinstance(one, ast.Subscript) for one in ast.walk(value.elt))
        return bool(_CLASSES.match(node.id)) and not looked_up and "count" in source.code(value)
    return isinstance(value, ast.List) and bool(_CLASSES.match(node.id))


def watch(batch: Batch) -> Alarm | None:
    sampler = getattr(batch.loader, "sampler", None)
    if sampler is None or type(sampler).__name__ != "WeightedRandomSampler" or batch.index > 0:
        return None
    weights, count = len(sampler.weights), len(batch.dataset)
    if weights >= count:
        return None
    told = f"WeightedRandomSampler has {weights} weights for {count} samples, so only the first {weights} are drawn; give it one weight a sample, class_weights[labels]"
    return Alarm(told, at=batch.record.place)
