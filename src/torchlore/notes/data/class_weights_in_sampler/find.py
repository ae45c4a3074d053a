"""The rule of class-weights-in-sampler."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, origin, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_CLASSES = regex(r"^(?:cls|class|label|category)_?(?:weights?|w|wts?|freqs?|counts?)$|^weights?_?(?:per|by)_?class$")
WORDS = ("WeightedRandomSampler",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.data.WeightedRandomSampler"):
        given = tree.argument(call, 0, "weights")
        many = tree.argument(call, 1, "num_samples")
        whole = isinstance(many, ast.Call) and source.name(many.func) == "len"
        if whole and tree.literal(tree.argument(call, 2, "replacement")) is False:
            told = "without replacement each sample is drawn once, whatever its weight: leave `replacement=False` out"
            yield source.hit(call, told)
            continue
        if given is not None and (_per_class(source, given) or _too_few(source, call, given)):
            code = source.code(given)
            yield source.hit(
                call,
                f"`{code}` has one weight a class, so only the first samples are drawn: give one a sample, `{code}[labels]`",
            )


def _too_few(source: Source, call: ast.Call, given: ast.expr) -> bool:
    """`[0.1, 0.9]` for `num_samples=len(data)`: a number for each class, written out."""
    numbers = follow.followed(source, given)
    inner = (
        numbers.args[0]
        if isinstance(numbers, ast.Call)
        and source.name(numbers.func) in ("torch.tensor", "torch.FloatTensor")
        and numbers.args
        else numbers
    )
    many = tree.argument(call, 1, "num_samples")
    whole = (
        isinstance(many, ast.Call)
        and source.name(many.func) == "len"
        and many.args
        and tree.dotted(many.args[0]) != tree.dotted(given)
    )
    plain = (
        isinstance(inner, ast.List)
        and 1 < len(inner.elts) <= 20
        and all(isinstance(tree.literal(one), int | float) for one in inner.elts)
    )
    return bool(whole) and plain


def _per_class(source: Source, node: ast.expr, hops: int = 12) -> bool:
    """Whether this is made of counts of classes and never looked up by label."""
    if isinstance(node, ast.Call) and hops:
        return _call_per_class(source, node, hops - 1)
    if isinstance(node, ast.Attribute):
        home, held = _of_an_object(source, node)
        return held is not None and hops > 0 and _per_class(home, held, hops - 1)
    if isinstance(node, ast.BinOp) and hops:
        return _per_class(source, node.left, hops - 1) or _per_class(source, node.right, hops - 1)
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    value = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
    if len(bound) == 1 and bound[0].path in ((1,), (2,)) and isinstance(bound[0].value, ast.Call):
        counted = tree.literal(tree.argument(bound[0].value, None, "return_counts")) is True
        return counted and source.name(bound[0].value.func) in ("numpy.unique", "torch.unique")
    made = node if isinstance(node, ast.ListComp) else value
    if isinstance(made, ast.List | ast.ListComp | ast.Subscript) and (made is node or isinstance(node, ast.Name)):
        named = isinstance(node, ast.Name) and _named(source, node, made)
        return named or (isinstance(made, ast.ListComp) and _over_classes(source, made))
    return value is not None and hops > 0 and _per_class(source, value, hops - 1)


def _of_an_object(source: Source, node: ast.Attribute) -> tuple[Source, ast.expr | None]:
    """What `dataset.weights` is made of in the class of the dataset, where it is set once."""
    found = source.values(node.value)
    owner = classes.class_behind(source, found[0]) if len(found) == 1 else None
    held = classes.assigned(owner, node.attr) if owner is not None else []
    plain = owner is not None and len(held) == 1 and held[0].how == "assign" and not held[0].path
    return (owner.source, held[0].value) if plain and owner is not None else (source, None)


def _call_per_class(source: Source, call: ast.Call, hops: int) -> bool:
    home, made = origin.origin(source, call)
    if made is not call:
        return _per_class(home, made, hops)
    name = tree.dotted(call.func).rpartition(".")[2] or getattr(call.func, "attr", "")
    if (
        name in ("tensor", "as_tensor", "from_numpy", "array", "asarray", "DoubleTensor", "FloatTensor", "list")
        and call.args
    ):
        return _per_class(source, call.args[0], hops)
    if name == "values" and isinstance(call.func, ast.Attribute):
        made = follow.followed(source, call.func.value)
        return _counts(source, made) or (isinstance(made, ast.DictComp) and _over_classes(source, made))
    passed_on = name in ("float", "double", "to", "tolist") and isinstance(call.func, ast.Attribute)
    return name == "bincount" or (passed_on and _per_class(source, tree.receiver(call), hops))


def _named(source: Source, node: ast.Name, value: ast.expr) -> bool:
    """A list named after classes, and not one that is looked up by label."""
    if isinstance(value, ast.ListComp):
        looked_up = any(isinstance(one, ast.Subscript) for one in ast.walk(value.elt))
        return bool(_CLASSES.match(node.id)) and not looked_up and "count" in source.code(value)
    return isinstance(value, ast.List) and bool(_CLASSES.match(node.id))


def _over_classes(source: Source, made: ast.ListComp | ast.DictComp) -> bool:
    """`[1 / counts[c] for c in sorted(counts)]`, `[total / n for n in counts.values()]`: one number for each class."""
    over = made.generators[0].iter if len(made.generators) == 1 else None
    if isinstance(over, ast.Call) and source.name(over.func) in ("sorted", "list", "range", "enumerate") and over.args:
        over = over.args[-1] if source.name(over.func) == "range" else over.args[0]
    if isinstance(over, ast.Call) and source.name(over.func) == "len" and over.args:
        over = over.args[0]
        if re.search(r"^(?:self\.)?class(?:es|_names)$", tree.dotted(over)):
            return True
    if isinstance(over, ast.Call) and follow.method(over) in ("values", "items", "keys"):
        over = tree.receiver(over)
    classes = over is not None and re.search(r"(?:^|\.)(?:num|n)_(?:classes|labels)$", tree.dotted(over)) is not None
    return classes or (over is not None and _counts(source, follow.followed(source, over)))


def _counts(source: Source, node: ast.expr) -> bool:
    """`Counter(labels)`, `torch.bincount(labels)`: how often each class occurs."""
    while follow.method(node) in ("float", "double", "tolist", "to", "numpy"):
        node = tree.receiver(node)  # type: ignore[arg-type]  # a call: it has a method
    full = source.name(node.func) if isinstance(node, ast.Call) else ""
    if full in ("numpy.unique", "torch.unique", "set"):
        return True
    return full in ("collections.Counter", "torch.bincount", "numpy.bincount") or follow.method(node) == "bincount"
