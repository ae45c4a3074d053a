"""What a file shows of it."""

import ast
from collections.abc import Iterator

from torchlore.check import follow, losses, scopes, tree, values
from torchlore.check.source import Hit, Source

_LAYERS = ("torch.nn.Softmax", "torch.nn.LogSoftmax")
_ALSO = {"data", "detach", "cpu", "softmax", "sigmoid", "log_softmax"}


def find(source: Source) -> Iterator[Hit]:
    for call in (*source.methods("argmax", "max"), *source.calls("torch.argmax", "torch.max")):
        plain = source.name(call.func).startswith("torch.")
        if (plain and not call.args) or tree.literal(tree.argument(call, int(plain), "dim")) != 0:
            continue
        scores = call.args[0] if plain else tree.receiver(call)
        if _of_a_batch(source, scores):
            yield source.hit(
                call,
                f"this gives the best sample of each class, not the class of each sample: write `{source.code(scores)}.argmax(dim=1)`",
            )
    for loss in losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        given = values.state(source, loss.input) if loss.input is not None else None
        if (
            given is None
            or given.state not in ("probs", "logprobs")
            or given.source is not source
            or not _batched(source, loss.target)
        ):
            continue
        where = given.node
        made = values.made_by(source, where.func, *_LAYERS) if isinstance(where, ast.Call) else None
        asked = made.node if made is not None and isinstance(made.node, ast.Call) else where
        layer = isinstance(asked, ast.Call) and source.name(asked.func) in _LAYERS
        first = tree.argument(asked, 0 if layer else 1, "dim") if isinstance(asked, ast.Call) else None
        if tree.literal(first) == 0 and isinstance(asked, ast.Call):
            yield source.hit(asked, "a softmax over dimension 0 mixes the samples of the batch: pass dim=1")


def _of_a_batch(source: Source, node: ast.expr, hops: int = 4) -> bool:
    """Whether this is what a model gives for a batch of a loader, whole."""
    while isinstance(node, ast.Attribute | ast.Call):
        if isinstance(node, ast.Attribute) and node.attr in _ALSO:
            node = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _ALSO
            and not source.name(node.func)
        ):
            node = node.func.value
        else:
            break
    if isinstance(node, ast.Name):
        value = follow.binding(source, node) if hops else None
        return value is not None and _of_a_batch(source, value, hops - 1)
    model = isinstance(node, ast.Call) and len(node.args) == 1 and values.sure(source, node.func, "module", weak=True)
    return model and isinstance(node, ast.Call) and _batched(source, node.args[0])


def _batched(source: Source, node: ast.expr | None) -> bool:
    """A name that a loop over a loader hands out."""
    while isinstance(node, ast.Call) and follow.method(node) in ("to", "cuda", "float", "long"):
        node = tree.receiver(node)
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    for one in bound:
        if (
            one.how == "assign"
            and isinstance(one.value, ast.Call)
            and follow.method(one.value) in ("to", "cuda", "float", "long")
        ):
            inner = tree.receiver(one.value)
            if isinstance(inner, ast.Name) and any(other.how == "for" for other in scopes.reaching(source, inner)):
                continue
        if one.how != "for" or one.value is None or not _loads(source, one.value):
            return False
    return bool(bound)


def _loads(source: Source, over: ast.expr) -> bool:
    nodes = [node for node in ast.walk(over) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)]
    return any(values.sure(source, node, "loader", weak=True) for node in nodes)
