"""The rule of batch-first-forgotten."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, follow, grouped, losses, origin, scopes, stated, tree, uses, values
from torchlore.check.source import Hit, Source

_RNNS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
_BLOCK = "torch.nn.TransformerEncoderLayer"
_ATTENTION = "torch.nn.MultiheadAttention"
_BATCH = re.compile(r"^(b|bs|bsz|batch\w*|n_?batch|num_samples)$", re.IGNORECASE)
_TIME = re.compile(r"^(t|l|s|seq\w*|len\w*|time\w*|steps|tokens|n_?tokens|\w+_len)$", re.IGNORECASE)

WORDS = ("*batch_first*|*lstm*|*gru*|*rnn*|*transformerencoder*|*multiheadattention*",)


def find(source: Source) -> Iterator[Hit]:
    yield from _for_ctc(source)
    if not any(word in source.text for word in ("LSTM", "GRU", "RNN", "TransformerEncoder", "MultiheadAttention")):
        return
    yield from _padded_time_first(source)
    seen = set()
    found = [(one, one.value) for one in grouped.indexed(source, ast.Tuple) if _of_second(one)]
    means = [call for call in source.methods("mean") if tree.literal(tree.argument(call, 0, "dim")) == 1]
    both: list[tuple[ast.expr, ast.expr]] = [*found, *((call, tree.receiver(call)) for call in means)]
    for taken, whole in both:
        made, position = _layer(source, whole)
        if made is None or id(made) in seen or not stated.lacks(source, made, position, "batch_first"):
            continue
        if _batch_of_one(source, whole):
            continue
        seen.add(id(made))
        edit = edits.add_keyword(source, made, "batch_first", "True")
        place = f"`{source.code(taken)}` (line {taken.lineno})"
        message = f"time is the first dimension here and {place} goes along the samples: add `batch_first=True`"
        yield source.hit(made, message, edit, safe=False)
    for call, made, position in (*_given_batch_first(source), *_one_step_each(source)):
        if id(made) not in seen and stated.lacks(source, made, position, "batch_first"):
            seen.add(id(made))
            edit = edits.add_keyword(source, made, "batch_first", "True")
            told = f"`{source.code(call)}` gets the batch first and takes it for time: add `batch_first=True`"
            yield source.hit(made, told, edit, safe=False)


def _padded_time_first(source: Source) -> Iterator[Hit]:
    """`pad_sequence(seqs)` gives time first; every layer of the file takes the batch first, and nothing swaps the two."""
    layers = list(source.calls(*_RNNS, _BLOCK, _ATTENTION))
    first = layers and all(tree.literal(tree.argument(one, None, "batch_first")) is True for one in layers)
    if not first or re.search(
        r"transpose\(|permute\(|swapaxes|\.t\(\)|\.T\b|pack_padded|pack_sequence|zip_longest", source.text
    ):
        return
    for call in source.calls("torch.nn.utils.rnn.pad_sequence"):
        if tree.lacks(call, 1, "batch_first"):
            edit = edits.add_keyword(source, call, "batch_first", "True")
            told = "`pad_sequence` puts time first, and the layers of this file take the batch first: add `batch_first=True`"
            yield source.hit(call, told, edit, safe=False)


def _given_batch_first(source: Source) -> Iterator[tuple[ast.Call, ast.Call, int]]:
    """Calls of a layer on a tensor whose sizes the same function unpacks as batch, time and features."""
    for assign in uses.assigns(source, ast.Tuple):
        names, tensor = _unpacked(assign)
        if tensor is None or len(names) != 3 or not (_BATCH.match(names[0]) and _TIME.match(names[1])):
            continue
        home = tree.function(source, assign)
        if home is None:
            continue
        for call in tree.body_nodes(home):
            first = call.args[0] if isinstance(call, ast.Call) and call.args else None
            if isinstance(call, ast.Call) and isinstance(first, ast.Name) and first.id == tensor.id:
                same = scopes.reaching(source, first) == scopes.reaching(source, tensor)
                made, position = _of_call(source, call) if same else (None, 0)
                if made is not None:
                    yield call, made, position


def _one_step_each(source: Source) -> Iterator[tuple[ast.Call, ast.Call, int]]:
    """`out, state = rnn(x[:, t].unsqueeze(1), state)` in a loop: one step of every sample, and the state of the last one."""
    for assign in uses.assigns(source, ast.Tuple, ast.Call):
        call, target = assign.value, assign.targets[0]
        if (
            not isinstance(call, ast.Call)
            or len(call.args) != 2
            or not isinstance(target, ast.Tuple)
            or not tree.loops(source, assign)
        ):
            continue
        carried = len(target.elts) == 2 and source.code(target.elts[1]).strip("()") == source.code(call.args[1]).strip(
            "()"
        )
        if carried and _is_one_step(source, call.args[0]):
            made, position = _of_call(source, call)
            if made is not None:
                yield call, made, position


def _is_one_step(source: Source, given: ast.expr) -> bool:
    """`x[:, t].unsqueeze(1)`, `x[:, t, :].unsqueeze(1)`, `x[:, t:t + 1]`, also by a name."""
    step = follow.followed(source, given)
    grown = (
        isinstance(step, ast.Call)
        and follow.method(step) == "unsqueeze"
        and tree.literal(tree.argument(step, 0, "dim")) == 1
    )
    taken = follow.followed(source, tree.receiver(step)) if grown and isinstance(step, ast.Call) else step
    parts = taken.slice.elts if isinstance(taken, ast.Subscript) and isinstance(taken.slice, ast.Tuple) else []
    if (
        len(parts) < 2
        or not isinstance(parts[0], ast.Slice)
        or parts[0].lower is not None
        or parts[0].upper is not None
    ):
        return False
    at = parts[1]
    short = (
        isinstance(at, ast.Slice)
        and isinstance(at.lower, ast.Name)
        and isinstance(at.upper, ast.BinOp)
        and tree.literal(at.upper.right) == 1
    )
    return isinstance(at, ast.Name) if grown else short


def _unpacked(assign: ast.Assign) -> tuple[list[str], ast.Name | None]:
    """`b, t, d = x.shape` or `x.size()`."""
    value, target = assign.value, assign.targets[0]
    whole = value.func if isinstance(value, ast.Call) and not value.args else value
    if not isinstance(whole, ast.Attribute) or whole.attr not in ("shape", "size") or not isinstance(target, ast.Tuple):
        return [], None
    names = [one.id for one in target.elts if isinstance(one, ast.Name)]
    return names, whole.value if isinstance(whole.value, ast.Name) else None


def _of_call(source: Source, call: ast.Call) -> tuple[ast.Call | None, int]:
    """The constructor of the layer that is called, and where `batch_first` stands in it."""
    for names, position in ((_RNNS, 4), ((_BLOCK,), 6), ((_ATTENTION,), 8)):
        if made := _here(source, values.made_by(source, call.func, *names)):
            return made, position
    stack = _here(source, values.made_by(source, call.func, "torch.nn.TransformerEncoder"))
    block = tree.argument(stack, 0, "encoder_layer") if stack is not None else None
    return (_here(source, values.made_by(source, block, _BLOCK)), 6) if block is not None else (None, 0)


def _of_second(taken: ast.Subscript) -> bool:
    """`out[:, -1]`, `out[:, 0]` or `out[:, -1, :]`."""
    parts = taken.slice.elts if isinstance(taken.slice, ast.Tuple) else []
    whole = len(parts) in (2, 3) and isinstance(parts[0], ast.Slice) and parts[0].lower is parts[0].upper is None
    return whole and tree.literal(parts[1]) in (0, -1)


def _layer(source: Source, node: ast.expr, hops: int = 3) -> tuple[ast.Call | None, int]:
    """The constructor of the layer whose output sequence this is, and where `batch_first` stands in it."""
    path: tuple[int, ...] = ()
    if isinstance(node, ast.Name):
        bindings = scopes.reaching(source, node)
        if len(bindings) != 1 or bindings[0].how != "assign" or bindings[0].value is None:
            return None, 0
        node, path = bindings[0].value, bindings[0].path
    elif isinstance(node, ast.Subscript):
        path = (0,) if tree.literal(node.slice) == 0 else ()
        node = node.value
    if not isinstance(node, ast.Call):
        return None, 0
    inner = origin.behind(source, node) if hops else None
    if inner is not None and inner.source is source and len(given := calls.returned(inner)) == 1:
        parts = given[0].elts if isinstance(given[0], ast.Tuple) else given
        return (
            _layer(source, parts[0], hops - 1) if path in ((), (0,)) and (len(parts) > 1) == bool(path) else (None, 0)
        )
    if path == (0,):
        attention = _here(source, values.made_by(source, node.func, _ATTENTION))
        return (attention, 8) if attention else (_here(source, values.made_by(source, node.func, *_RNNS)), 4)
    stack = _here(source, values.made_by(source, node.func, "torch.nn.TransformerEncoder")) if path == () else None
    block = tree.argument(stack, 0, "encoder_layer") if stack is not None else node.func if path == () else None
    return _here(source, values.made_by(source, block, _BLOCK)) if block is not None else None, 6


def _here(source: Source, made: values.Value | None) -> ast.Call | None:
    return made.node if made is not None and isinstance(made.node, ast.Call) and made.source is source else None


def _batch_of_one(source: Source, whole: ast.expr) -> bool:
    """`self.attend(q[:, None], k[:, None], v[:, None])[0][:, 0]`: the second dimension is a batch that was put in."""
    call = whole.value if isinstance(whole, ast.Subscript) else whole
    first = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return first is not None and source.code(first).replace(" ", "").endswith(("[:,None]", ".unsqueeze(1)"))


def _for_ctc(source: Source) -> Iterator[Hit]:
    """`ctc(log_probs, ...)` of what an RNN with `batch_first=True` gives: CTC takes time first."""
    for loss in losses.loss_calls(source, "CTCLoss", "ctc_loss") if "batch_first" in source.text else ():
        given = tree.argument(loss.call, 0, "log_probs")
        if given is not None and _leads_with_batch(source, given):
            code = source.code(given)
            told = (
                f"CTC takes (time, batch, classes) and `{code}` has the batch first: give it `{code}.transpose(0, 1)`"
            )
            yield source.hit(loss.call, told)


def _leads_with_batch(source: Source, node: ast.expr, hops: int = 8) -> bool:
    """Whether this comes from an RNN with the batch first, and no dimension was moved on the way."""
    if isinstance(node, ast.Name) and hops:
        return _named_with_batch(source, node, hops)
    if not isinstance(node, ast.Call) or not hops:
        return False
    word = follow.word(source, node)
    if word in ("log_softmax", "softmax", "log", "dropout", "relu", "float", "contiguous", "clamp"):
        inner = node.args[0] if source.name(node.func) and node.args else tree.receiver(node)
        return _leads_with_batch(source, inner, hops - 1)
    if len(node.args) == 1 and values.made_by(
        source, node.func, "torch.nn.Linear", "torch.nn.Dropout", "torch.nn.LayerNorm"
    ):
        return _leads_with_batch(source, node.args[0], hops - 1)
    return _gives_batch_first(source, node, hops - 1)


def _named_with_batch(source: Source, name: ast.Name, hops: int) -> bool:
    """The same of a name: `out` of `out, _ = self.rnn(x)`, or what it was set to."""
    bound = scopes.reaching(source, name)
    one = bound[0] if len(bound) == 1 and bound[0].how == "assign" else None
    if one is None or one.value is None:
        return False
    made = values.made_by(source, one.value.func, *_RNNS) if isinstance(one.value, ast.Call) else None
    if made is not None and one.path == (0,) and isinstance(made.node, ast.Call):
        return tree.literal(tree.argument(made.node, None, "batch_first")) is True
    return not one.path and _leads_with_batch(source, one.value, hops - 1)


def _gives_batch_first(source: Source, call: ast.Call, hops: int) -> bool:
    """The same of what the `forward` of a module of this file gives back."""
    found = source.values(call.func)
    owner = classes.class_behind(source, found[0]) if len(found) == 1 else None
    forward = classes.methods(owner).get("forward") if owner is not None and owner.source is source else None
    backs = [one.value for one in tree.under(source, forward, ast.Return)] if forward is not None else []
    return len(backs) == 1 and backs[0] is not None and _leads_with_batch(source, backs[0], hops)
