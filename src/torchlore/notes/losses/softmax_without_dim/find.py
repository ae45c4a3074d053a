"""The static rule of softmax-without-dim."""

import ast
import re
from collections.abc import Iterator
from typing import Literal

from torchlore.check import dims, edits, follow, loaders, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FUNCTIONS = tuple(f"torch.nn.functional.{name}" for name in ("softmax", "log_softmax", "softmin"))
_ROWS = regex(
    r"\bmm\(|permute\([01], ?[01]\)|\.t\(\)|(?:view|reshape)\([^(),]+(?:\([^()]*\))?, [^,]+\)|[Ff]latten\(|(?<!un)squeeze\(|max\(.*, (?:dim=)?1\)|, 0\)"
)
_THREE = regex(r"bmm|matmul|einsum|permute|transpose| @ ")
_STATE = regex(r"^torch\.\w*(Tensor|tensor|from_numpy)\((self\.)?(state|obs|observation)\b")
_PLAYS = regex(r"Categorical|\bgym(nasium)?\b|env\.step|self\.gamma \* R\b|put_data")
_WEIGHS = regex(r"att|gate|gating|weight|pool|rout|mix", re.IGNORECASE)
_MODULES = ("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin")
WORDS = ("softmax|log_softmax|softmin|Softmax|LogSoftmax|Softmin",)


def find(source: Source) -> Iterator[Hit]:
    for position, names in ((1, _FUNCTIONS), (0, _MODULES)):
        for call in source.calls(*names):
            if tree.lacks(call, position, "dim"):
                dim = "1" if position and call.args and _one_column(source, call.args[0]) else "-1"
                edit = edits.add_keyword(source, call, "dim", dim)
                message = f"`{source.code(call.func)}` without `dim` may pick the batch: add `dim={dim}`"
                yield source.hit(call, message, edit, safe=False, severity=_severity(source, call))
    yield from _last_layer(source)
    yield from _own_layer(source)
    for call in (
        *source.calls(*_FUNCTIONS, "torch.softmax", "torch.log_softmax"),
        *source.methods("softmax", "log_softmax"),
    ):
        method = not source.name(call.func)
        given = tree.argument(call, 0 if method else 1, "dim")
        scores = tree.receiver(call) if method else tree.argument(call, 0, "input")
        if tree.literal(given) == 0 and scores is not None and given is not None and _batched(source, scores):
            edit = edits.replace(source, given, "-1")
            yield source.hit(
                call, "`dim=0` is the batch, the samples compete with each other: write `dim=-1`", edit, safe=False
            )


def _one_column(source: Source, scores: ast.expr) -> bool:
    """`bmm(keys, query.unsqueeze(-1))`: one column, over which a softmax is 1 everywhere; the scores lie in the one before."""
    made = follow.followed(source, scores)
    query = (
        tree.argument(made, 1, "mat2") if isinstance(made, ast.Call) and source.name(made.func) == "torch.bmm" else None
    )
    last = follow.followed(source, query) if query is not None else None
    given = last.args[0] if isinstance(last, ast.Call) and follow.method(last) == "unsqueeze" and last.args else None
    return given is not None and tree.literal(given) in (-1, 2)


def _own_layer(source: Source) -> Iterator[Hit]:
    """`self.softmax = nn.Softmax(dim=0)`, which is called on the logits of a batch wherever it is called."""
    for call in source.calls(*_MODULES):
        given = tree.argument(call, 0, "dim")
        scores = [*_applied_to(source, call)] if given is not None and tree.literal(given) == 0 else []
        if given is not None and scores and all(_batched(source, one) for one in scores):
            edit = edits.replace(source, given, "-1")
            told = "`dim=0` is the batch, the samples compete with each other: write `dim=-1`"
            yield source.hit(call, told, edit, safe=False)


def _last_layer(source: Source) -> Iterator[Hit]:
    """`nn.Softmax(dim=0)` behind a linear layer of a Sequential."""
    for call in source.calls(*_MODULES):
        given, up = tree.argument(call, 0, "dim"), source.parents[call]
        layers = up.args if isinstance(up, ast.Call) and source.name(up.func) == "torch.nn.Sequential" else []
        before = layers[layers.index(call) - 1] if call in layers and layers.index(call) else None
        if tree.literal(given) != 0 or given is None or not isinstance(before, ast.Call):
            continue
        wide = (
            source.name(before.func) == "torch.nn.Linear"
            and tree.literal(tree.argument(before, 1, "out_features")) != 1
        )
        if wide and not _PLAYS.search(source.text) and not _weighs(source, up) and not _unbatched(source, up):
            edit = edits.replace(source, given, "-1")
            told = "`dim=0` is the batch, the samples compete with each other: write `dim=-1`"
            yield source.hit(call, told, edit, safe=False)


def _weighs(source: Source, made: ast.AST) -> bool:
    """A part by the name of attention, or one whose output is put into another shape: its rows need not be samples."""
    held = source.parents[made]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    shaped = (one for one in source.methods("view", "reshape", "unsqueeze", "t", "squeeze") if name)
    given = (one.func for call in shaped if isinstance(one := tree.receiver(call), ast.Call))
    return bool(_WEIGHS.search(name)) or any(tree.dotted(one) == name for one in given)


def _unbatched(source: Source, made: ast.AST) -> bool:
    """Whether what the layers are called on is joined or summed along dimension 0: there is no batch, or they would not do that."""
    held = source.parents[made]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    for call in source.all(ast.Call) if name else ():
        if tree.dotted(call.func) == name and call.args:
            given = follow.followed(source, call.args[0])
            axis = tree.argument(given, 1, "dim") if isinstance(given, ast.Call) else None
            if follow.method(given) in ("cat", "sum", "mean", "stack") and axis is not None and tree.literal(axis) == 0:
                return True
    return False


def _severity(source: Source, call: ast.Call) -> Literal["hint"] | None:
    """Of rows of scores torch picks the right dimension: deprecated, not wrong. With three dimensions it picks the first."""
    scores = call.args[:1] if source.name(call.func) in _FUNCTIONS else list(_applied_to(source, call))
    if scores and all(_turned(source, call, one) for one in scores):
        return "hint"  # the classes were put in front for it
    shapes = [values.shape(source, one) for one in scores]
    if scores and all(_one_row(one) for one in scores):
        return "hint"
    if any(shape is not None for shape in shapes):
        return None if any(shape is not None and len(shape) == 3 for shape in shapes) else "hint"
    told = " ".join(text for one in scores for text in _making(source, one))
    return None if _THREE.search(told) and not _ROWS.search(told) else "hint"


def _turned(source: Source, call: ast.Call, scores: ast.expr) -> bool:
    """`softmax(x.transpose(0, 2)).transpose(0, 2)`: who wrote this knows which dimension is picked."""
    up = source.parents[call]
    back = isinstance(up, ast.Attribute) and up.attr in ("transpose", "permute", "t")
    return back and follow.method(scores) in ("transpose", "permute", "t")


def _one_row(node: ast.expr) -> bool:
    """`scores[0, 0, :]`: what is left has one dimension."""
    places = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else []
    return len(places) > 1 and sum(isinstance(one, ast.Slice) for one in places) == 1


def _applied_to(source: Source, made: ast.Call) -> Iterator[ast.expr]:
    """What a softmax layer is called on: directly, or by the name it was given."""
    up = source.parents[made]
    name = tree.dotted(up.targets[0]) if isinstance(up, ast.Assign) else ""
    for call in source.all(ast.Call) if name or isinstance(up, ast.Call) else ():
        own = not name.startswith("self.") or tree.class_of(source, call) is tree.class_of(source, made)
        if call.args and (call.func is made or (name and own and tree.dotted(call.func) == name)):
            yield call.args[0]


def _making(source: Source, node: ast.expr, hops: int = 3) -> Iterator[str]:
    """The code that makes a value: its own, and that of the names in it."""
    yield source.code(node)
    for name in tree.under(source, node, ast.Name) if hops else ():
        value = follow.binding(source, name)
        if value is not None:
            yield from _making(source, value, hops - 1)


def _single(source: Source, scores: ast.expr) -> bool:
    """The net is called on one sample: `net(x[0])`, or `net(torch.FloatTensor(state))` of one state of a game."""
    made = follow.followed(source, scores)
    given = [follow.followed(source, one) for one in made.args] if isinstance(made, ast.Call) else []
    return any(
        (isinstance(one, ast.Subscript) and isinstance(tree.literal(one.slice), int))
        or (isinstance(one, ast.Call) and _STATE.search(source.code(one)) is not None)
        for one in given
    )


def _batched(source: Source, scores: ast.expr) -> bool:
    """The output of a module that is called on whole batches: the logits of a cross-entropy, say."""
    given = values.state(source, scores)
    shape = values.shape(source, scores)
    many = dims.dims(source, scores) == 2
    if not many and (_PLAYS.search(source.text) or _single(source, scores)):
        return False  # one state of a game has one dimension
    made = follow.followed(source, scores)
    run = shape is None and isinstance(made, ast.Call) and values.sure(source, made.func, "module", weak=True)
    if run and loaders.hands_out(source, _fed(made)):
        return True  # of a batch of which only the loader is known
    return given is not None and given.state == "logits" and shape is not None and len(shape) > 1 and shape[-1] != 1


def _fed(made: ast.expr) -> ast.expr:
    """`x` of `net(x)`, or of `net(x.to(device))`."""
    given = made.args[0] if isinstance(made, ast.Call) and made.args else made
    while isinstance(given, ast.Call) and follow.method(given) in ("to", "cuda", "float"):
        given = tree.receiver(given)
    return given
