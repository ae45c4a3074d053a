"""The rule of single-logit-softmax."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, losses, origin, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FUNCTIONS = tuple(
    f"torch.{name}" for name in ("softmax", "log_softmax", "nn.functional.softmax", "nn.functional.log_softmax")
)
_LAST = (-1, 1)
_STEPS = (-1, 2)
_POOLS = regex(r"att|pool|gate|weight|alpha|scor|energ", re.IGNORECASE)
_THREE = regex(r"bmm|matmul|permute|einsum|unsqueeze|transpose| @ |att[ei]?n|alpha|energ|\bseq|sum\([^()]*\b1\b")
WORDS = (f"{losses.SAID}|softmax|log_softmax|Softmax|LogSoftmax",)


def find(source: Source) -> Iterator[Hit]:
    yield from _of_calls(source)
    for layer in source.calls("torch.nn.Softmax", "torch.nn.LogSoftmax"):
        box = source.parents[layer]
        where = tree.literal(tree.argument(layer, 0, "dim"))
        named = source.parents[box] if where == 1 else None
        if isinstance(named, ast.Assign) and _POOLS.search(source.code(named.targets[0])):
            continue  # a weight for each step of a sequence
        if isinstance(box, ast.Call) and layer in box.args and where in _LAST and _after_single(source, box, layer):
            yield source.hit(layer, "this softmax follows a layer with one output and is always 1: use `nn.Sigmoid()`")
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy"):
        if loss.input is not None and _single(source, loss.input):
            yield source.hit(
                loss.call, "cross-entropy of a single output is always 0: use binary_cross_entropy_with_logits"
            )
        elif loss.input is not None and loss.target is not None and _row_of_singles(source, loss.input, loss.target):
            told = "a row of single outputs is taken for the scores of one sample, and the labels for its probabilities: use BCEWithLogitsLoss"
            made = loss.made.node if loss.made is not None and loss.made.source is source else None
            yield source.hit(made if isinstance(made, ast.Call) else loss.call, told)


def _of_calls(source: Source) -> Iterator[Hit]:
    """`softmax(scores, dim=-1)` of scores of which there is one: one a sample, or one a step."""
    for call in (*source.calls(*_FUNCTIONS), *source.methods("softmax", "log_softmax")):
        method = not source.name(call.func)
        scores = tree.receiver(call) if method else tree.argument(call, 0, "input")
        where = tree.literal(tree.argument(call, 0 if method else 1, "dim"))
        if scores is None:
            continue
        if where in _STEPS and _summed_over_steps(source, call) and _one_a_step(source, scores, where):
            told = f"`{source.code(scores)}` has one score a step, and over that one the softmax is always 1"
            yield source.hit(call, f"{told}: take it over the steps, `dim=1`")
        elif where in _LAST and not _attends(source, call, where) and _single(source, scores):
            yield source.hit(call, f"`{source.code(scores)}` has one output and its softmax is always 1: use a sigmoid")


def _single(source: Source, scores: ast.expr) -> bool:
    shape = values.shape(source, scores)
    return shape is not None and len(shape) == 2 and shape[1] == 1


def _one_a_step(source: Source, scores: ast.expr, where: object) -> bool:
    return (where == 2 and _single(source, scores)) or (where == -1 and _last_is_one(source, scores))


def _last_is_one(source: Source, scores: ast.expr) -> bool:
    """What a layer with one output gives, of however many dimensions."""
    made = follow.followed(source, scores)
    layer = values.made_by(source, made.func, "torch.nn.Linear") if isinstance(made, ast.Call) else None
    shape = values.shape(source, scores) or ()
    wide = tree.argument(layer.node, 1, "out_features") if layer and isinstance(layer.node, ast.Call) else None
    return tree.literal(wide) == 1 or (len(shape) > 1 and shape[-1] == 1)


def _summed_over_steps(source: Source, call: ast.Call) -> bool:
    """`(weights * outputs).sum(1)`, `torch.sum(weights * outputs, dim=1)` or `torch.bmm(weights.transpose(1, 2), outputs)`: the weights are (batch, steps, 1)."""
    held = source.parents[call]
    name = held.targets[0] if isinstance(held, ast.Assign) and len(held.targets) == 1 else None
    home = tree.function(source, call) or source.tree
    uses = [one for one in tree.under(source, home, ast.Name) if isinstance(name, ast.Name) and one.id == name.id]
    for one in (call, *(use for use in uses if use.lineno > call.lineno)):
        up = source.parents[one]
        holder = source.parents[up] if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Mult) else None
        over = source.parents.get(holder) if isinstance(holder, ast.Attribute) else holder
        place = 0 if isinstance(holder, ast.Attribute) else 1
        total = isinstance(over, ast.Call) and follow.word(source, over) == "sum"
        if total and isinstance(over, ast.Call) and tree.literal(tree.argument(over, place, "dim")) == 1:
            return True
        turned = source.parents[up] if isinstance(up, ast.Attribute) and up.attr == "transpose" else None
        if isinstance(turned, ast.Call) and follow.word(source, source.parents[turned]) in ("bmm", "matmul"):
            return [tree.literal(part) for part in turned.args] in ([1, 2], [2, 1])
    return False


def _row_of_singles(source: Source, given: ast.expr, target: ast.expr) -> bool:
    """`net(x).squeeze(1)` of a net with one output, against labels in a row."""
    home, made = origin.origin(source, given)
    flat = isinstance(made, ast.Call) and follow.method(made) in ("squeeze", "flatten", "view", "reshape")
    numbers = [tree.literal(one) for one in made.args] if flat and isinstance(made, ast.Call) else None
    if numbers not in ([], [1], [-1], [0]) or not isinstance(made, ast.Call):
        return False
    labels = values.shape(source, target)
    whole = tree.receiver(made) if isinstance(made.func, ast.Attribute) else given
    return labels is not None and len(labels) == 1 and _single(home, whole)


def _attends(source: Source, call: ast.Call, where: int) -> bool:
    """Over dimension 1 one score a step is an attention, where the code around it handles three dimensions."""
    home = tree.function(source, call)
    return where == 1 and home is not None and bool(_THREE.search(source.code(home)))


def _after_single(source: Source, box: ast.Call, layer: ast.Call) -> bool:
    before = box.args[box.args.index(layer) - 1] if box.args.index(layer) else None
    linear = isinstance(before, ast.Call) and source.name(before.func) == "torch.nn.Linear"
    return linear and isinstance(before, ast.Call) and tree.literal(tree.argument(before, 1, "out_features")) == 1
