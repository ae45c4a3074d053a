"""The rule of last-step-is-padding."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, grouped, scopes, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_RNNS = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
_LENGTHS = regex(r"^(\w+_)?(lens?|lengths?)$", re.IGNORECASE)


def find(source: Source) -> Iterator[Hit]:
    yield from _state_behind(source)
    packed = "pad_packed_sequence" in source.text
    for taken in source.all(ast.Subscript) if packed else grouped.indexed(source, ast.Tuple):
        if packed and _unpacked(source, taken):
            told = "behind the end of a sequence pad_packed_sequence gives zeros, and this is the end of the longest one only"
            yield source.hit(taken, f"{told}: take the state that the RNN gives, `h[-1]`, or the step at `length - 1`")
            continue
        home = tree.function(source, taken) if _last_column(taken) else None
        if home is None:
            continue
        given = [arg.arg for arg in tree.parameters(home) if _LENGTHS.match(arg.arg)]
        read = (
            {one.id for one in tree.under(source, home, ast.Name) if isinstance(one.ctx, ast.Load)} if given else set()
        )
        if not (given[0] not in read if given else _padded_behind(source)) or not _of_rnn(source, taken.value):
            continue
        if not given:
            told = "the shorter sequences were filled up behind their end (pad_sequence), and this reads the filling"
            yield source.hit(taken, f"{told}: pass the lengths and pack the batch, or take the step at `length - 1`")
        elif not _padded_in_front(source):
            code = source.code(taken.value)
            message = (
                f"`{source.code(taken)}` comes after the padding of the shorter ones, and `{given[0]}` is not used: take "
                f"`{code}[torch.arange(len({given[0]})), {given[0]} - 1]`"
            )
            yield source.hit(taken, message)


def _state_behind(source: Source) -> Iterator[Hit]:
    """`out, (h, c) = self.lstm(x)` of a method that is told the lengths and reads them nowhere: `h` comes behind the padding."""
    for home in source.all(ast.FunctionDef) if "self." in source.text else ():
        taken = [arg.arg for arg in tree.parameters(home)]
        given = [one for one in taken if _LENGTHS.match(one)]
        if not given or tree.method_class(source, home) is None or {"src_tokens", "src_lengths"} <= {*taken}:
            continue  # an encoder of fairseq, which fills its sources up in front
        names = tree.under(source, home, ast.Name)
        read = {one.id for one in names if isinstance(one.ctx, ast.Load)}
        for one in (
            tree.under(source, home, ast.Assign) if given[0] not in read and not _padded_in_front(source) else ()
        ):
            pair = one.targets[0]
            runs = isinstance(one.value, ast.Call) and values.made_by(source, one.value.func, *_RNNS) is not None
            if not runs or not isinstance(pair, ast.Tuple | ast.List) or len(pair.elts) != 2:
                continue
            states = {part.id for part in ast.walk(pair.elts[1]) if isinstance(part, ast.Name)}
            if states & read:
                told = f"this state comes after the padding of the shorter ones, and `{given[0]}` is not used"
                yield source.hit(one.value, f"{told}: pack the batch with `pack_padded_sequence`")


def _padded_in_front(source: Source) -> bool:
    """Keras' `pad_sequences` fills up before the first word, unless it is told otherwise: the last step is a real one."""
    texts = [source.text, *(source.project.text(path) or "" for path in source.project.importers(source.module))]
    return any("pad_sequences(" in one and "post" not in one for one in texts)


def _padded_behind(source: Source) -> bool:
    """Whether the file fills up its inputs at the end, and nothing in it knows how long they are."""
    if not any(_is_first(source, call) for call in source.calls("torch.nn.utils.rnn.pad_sequence")):
        return False
    return not re.search(r"pack_padded|pack_sequence|lengths?\b|lens\b|padding_side|flip\(|[Mm]ask", source.text)


def _is_first(source: Source, call: ast.Call) -> bool:
    """Whether this is filled up with the batch first and is no label."""
    held = tree.statement(source, call)
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) and held.value is call else "x"
    label = re.search(r"(^|_)(y|ys|tgt|trg|targets?|labels?|tags?)($|_)", name)
    return tree.literal(tree.argument(call, 1, "batch_first")) is True and label is None


def _last_column(taken: ast.Subscript) -> bool:
    """`out[:, -1]` or `out[:, -1, :]`."""
    parts = taken.slice.elts if isinstance(taken.slice, ast.Tuple) else []
    whole = len(parts) in (2, 3) and isinstance(parts[0], ast.Slice) and parts[0].lower is parts[0].upper is None
    return whole and tree.literal(parts[1]) == -1


def _of_rnn(source: Source, node: ast.expr) -> bool:
    """Whether this is the output of an RNN that was given the padded batch itself, the batch first."""
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    one = found[0] if len(found) == 1 else None
    if one is None or one.path != (0,) or not isinstance(one.value, ast.Call):
        return False
    made = values.made_by(source, one.value.func, *_RNNS)
    first = (
        tree.argument(made.node, None, "batch_first") if made is not None and isinstance(made.node, ast.Call) else None
    )
    return first is not None and tree.literal(first) is True


def _unpacked(source: Source, taken: ast.Subscript) -> bool:
    """The last column of what `pad_packed_sequence` gives, where nobody reads the last state."""
    bound = scopes.reaching(source, taken.value) if isinstance(taken.value, ast.Name) else []
    made = bound[0].value if len(bound) == 1 and bound[0].path == (0,) else None
    whole = isinstance(made, ast.Subscript) and tree.literal(made.slice) == 0  # pad_packed_sequence(...)[0]
    if (
        isinstance(taken.value, ast.Name)
        and len(bound) == 1
        and not bound[0].path
        and isinstance(bound[0].value, ast.Subscript)
    ):
        made, whole = bound[0].value, tree.literal(bound[0].value.slice) == 0
    made = made.value if whole and isinstance(made, ast.Subscript) else made
    if not isinstance(made, ast.Call) or source.name(made.func) != "torch.nn.utils.rnn.pad_packed_sequence":
        return False
    first = tree.literal(tree.argument(made, 1, "batch_first")) is True
    last = _last_column(taken) if first else tree.literal(taken.slice) == -1
    packed = follow.followed(source, made.args[0]) if made.args else None
    return last and isinstance(packed, ast.expr) and not _reads_state(source, taken)


def _reads_state(source: Source, taken: ast.AST) -> bool:
    """Whether the function uses the state of one of its RNNs too: `h` of `out, (h, c) = self.lstm(packed)`."""
    home = tree.function(source, taken) or source.tree
    kept = set[str]()
    for one in tree.under(source, home, ast.Assign):
        target = one.targets[0]
        net = isinstance(one.value, ast.Call) and values.made_by(source, one.value.func, *_RNNS) is not None
        if net and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            kept |= {part.id for part in ast.walk(target.elts[1]) if isinstance(part, ast.Name)}
    reads = (one for one in tree.under(source, home, ast.Name) if isinstance(one.ctx, ast.Load))
    return any(one.id in kept for one in reads)
