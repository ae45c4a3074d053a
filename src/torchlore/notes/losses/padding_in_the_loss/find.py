"""The rule of padding-in-the-loss."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, follow, iteration, losses, scopes, tree, uses
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_NAMES = "pad_idx|pad_index|pad_id|pad_token_id|PAD_IDX|PAD_ID|PAD|src_pad_idx|trg_pad_idx|tgt_pad_idx"
_PADS = re.compile(rf"\b({_NAMES})\b")
_CARES = re.compile(r"-100|reduction=.none|weight=|packed_(?:target|tgt|trg|label|tag|caption|y\b)|PackedSequence")
_PACKS = ("torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence")
_MASKS = re.compile(r"ignore_index|[Mm]ask")
_OF_LAYERS = re.compile(
    r"\b\w*(src|tgt|trg|memory|key|attn|attention|causal|subsequent|square|pad)\w*_mask\w*|\bmask=\w+"
)
_FILLING = re.compile(
    r"padding_idx|padding_value|pad_sequence|full\(|\.pad\(|\*|\[ *\w*(pad|PAD)\w* *[\],]|[<\[]pad|stoi|vocab|= *\d|append|extend"
)
_TARGET = re.compile(r"(^|_)(tag|label|target|trg|tgt|y)s?($|_)", re.IGNORECASE)
_SAME = {"view", "reshape", "flatten", "to", "cuda", "long", "contiguous", "transpose", "t", "permute"}
_OF_LABELS = re.compile(r"label|target|ignore|tag", re.IGNORECASE)
_FLAT = re.compile(r"\.(view|reshape|flatten)\(")
WORDS = (losses.SAID, f"pad_sequence|ignore_index|{_NAMES}")


def find(source: Source) -> Iterator[Hit]:
    found = losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")
    yield from _kept(source, found) if found and "ignore_index" in source.text else ()
    if not found or _CARES.search(source.text) or _packed_away(source):
        return
    spared = {_bare(source, loss) for loss in found if loss.target is not None and _ignores(source, loss)}
    found = [one for one in found if not spared or (one.target is not None and _bare(source, one) in spared)]
    found = [one for one in found if not _ignores(source, one) and not _masked(source, one, known=bool(spared))]
    found = [one for one in found if not spared or not no_grad_around(source, one.call)]
    if not found:
        return
    flat = any(loss.target is not None and _FLAT.search(_text(source, loss.target)) for loss in found)
    if filled := [one for one in _filled_targets(source, found, flat=flat) if not _has_a_name(source, one)]:
        for call in filled:
            value = tree.argument(call, 2, "padding_value")
            told = "the loss counts what this fills up, and its value is a class like any other: fill up with -100"
            fix = (
                edits.replace(source, value, "-100")
                if value
                else edits.add_keyword(source, call, "padding_value", "-100")
            )
            yield source.hit(call, told, fix, safe=False)
        return
    words = (
        one
        for one in _PADS.finditer(source.text)
        if (uses.names(source, one[0]) or uses.attributes(source, one[0])) and _fills_up(source, one[0])
    )
    yield from _without_ignore_index(source, found, next(words, None))


def _kept(source: Source, found: list[losses.LossCall]) -> Iterator[Hit]:
    """`self.ignore_index = ignore_index`, which nobody reads, in a module that takes its losses without it."""
    stored = [one for one in uses.attributes(source, "ignore_index") if isinstance(one.ctx, ast.Store)]
    if not stored or len(stored) != len(uses.attributes(source, "ignore_index")):
        return
    for cls in (one for one in classes.all_classes(source) if "ignore_index" in classes.own_attributes(one)):
        own = [one for one in found if tree.inside(source, one.call, cls.node)] if classes.is_module(cls) else []
        given = any(_ignores(source, one) or tree.spread(one.call) for one in own)
        if own and not given:
            told = "`self.ignore_index` is kept and never given to a loss, so padding counts like words"
            yield source.hit(own[0].call, f"{told}: add `ignore_index=self.ignore_index`")


def _bare(source: Source, loss: losses.LossCall) -> str:
    """`tgt` of `tgt.reshape(-1)`."""
    return source.code(follow.peeled(loss.target, _SAME)) if loss.target is not None else ""


def _packed_away(source: Source) -> bool:
    """`pack_padded_sequence(captions, lengths)[0]` holds words only; what is packed for a recurrent layer comes back padded."""
    calls = source.calls(*_PACKS) if "pack" in source.text else ()
    ups = [source.parents[call] for call in calls]
    taken = any(isinstance(one, ast.Subscript | ast.Attribute | ast.Return) for one in ups)
    parted = any(isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Tuple) for one in ups)
    held = [tree.dotted(one.targets[0]) for one in ups if isinstance(one, ast.Assign)]
    data = any(f"{name}.data" in source.text or f"{name}[0]" in source.text for name in held if name)
    return taken or parted or data or (not ups and "pack_padded" in source.text)


def _fills_up(source: Source, word: str) -> bool:
    """Whether a line sets this index or fills up with it; a tokenizer may have one that no batch holds."""
    return any(_FILLING.search(line) for line in source.text.splitlines() if re.search(rf"\b{word}\b", line))


def _ignores(source: Source, loss: losses.LossCall) -> bool:
    """Whether a loss is given the index of the padding, where it is called or made."""
    return loss.option("ignore_index") is not None or "ignore_index" in source.code(loss.call)


def _masked(source: Source, loss: losses.LossCall, *, known: bool) -> bool:
    """Whether something around a loss may take the padding out; the masks of layers do not."""
    text = _OF_LAYERS.sub("", _around(source, loss.call))
    return _MASKS.search(text.replace("ignore_index", "") if known else text) is not None


def _around(source: Source, loss: ast.Call) -> str:
    """The text in which a loss may be masked: its function, or at the top of the file the loop around it."""
    home = tree.function(source, loss)
    loops = tree.loops(source, loss)
    return source.code(home or loops[-1]) if home is not None or loops else source.text


def _has_a_name(source: Source, call: ast.Call) -> bool:
    """`padding_value=PAD`: a token of its own, which the loss can leave out by its index."""
    value = tree.argument(call, 2, "padding_value")
    return value is not None and "pad" in source.code(value).lower()


def _filled_targets(source: Source, found: list[losses.LossCall], *, flat: bool) -> list[ast.Call]:
    """`labels = pad_sequence(labels)` with an index that may be a class: by its name, or since a loss gets it from the loader."""
    named = [
        call
        for call in source.calls("torch.nn.utils.rnn.pad_sequence")
        if isinstance(up := tree.statement(source, call), ast.Assign)
        and _TARGET.search(tree.dotted(up.targets[0]).rpartition(".")[2])
        and flat
    ]
    handed = [one for loss in found if loss.target is not None for one in _collated(source, loss.target)]
    return [one for one in dict.fromkeys((*named, *handed)) if _with_a_class(source, one)]


def _with_a_class(source: Source, call: ast.Call) -> bool:
    given = tree.argument(call, 2, "padding_value")
    return tree.lacks(call, 2, "padding_value") or (
        given is not None and tree.literal(follow.followed(source, given)) == 0
    )


def _collated(source: Source, target: ast.expr, hops: int = 4) -> Iterator[ast.Call]:
    """The calls that fill up a target in the function that puts a loader's batches together."""
    node = follow.peeled(target, _SAME)
    while isinstance(node, ast.Subscript) and any(isinstance(one, ast.Slice) for one in ast.walk(node.slice)):
        node = follow.peeled(node.value, _SAME)  # `y[:, 1:]`
    key: object = tree.literal(node.slice) if isinstance(node, ast.Subscript) else None
    name = node.value if isinstance(node, ast.Subscript) else node
    bound = scopes.reaching(source, name) if isinstance(name, ast.Name) and hops else []
    one = bound[0] if len(bound) == 1 else None
    if one is None or one.value is None:
        return
    if one.how == "assign" and not one.path and key is None:
        yield from _collated(source, one.value, hops - 1)
    elif one.how == "assign" and len(one.path) == 1 and isinstance(one.value, ast.Name) and key is None:
        yield from _unpacked(source, one.value, one.path[0])
    elif one.how == "for":
        yield from _of_loader(source, one.value, key if key is not None else one.path[-1] if one.path else None)


def _unpacked(source: Source, batch: ast.Name, place: int) -> Iterator[ast.Call]:
    """`for batch in loader: ids, gold = batch`."""
    bound = scopes.reaching(source, batch)
    if len(bound) == 1 and bound[0].how == "for" and bound[0].value is not None:
        yield from _of_loader(source, bound[0].value, place)


def _of_loader(source: Source, walked: ast.expr, key: object) -> Iterator[ast.Call]:
    """The call of `pad_sequence` that makes one part of a loader's batches, by its place or its key."""
    made = [one for one in source.values(iteration.unwrapped(source, walked)) if one.kind == "loader"]
    joins = iteration.collate(source, made[0]) if len(made) == 1 else None
    for back in calls.returned(joins) if joins is not None and joins.source is source else ():
        whole = follow.followed(source, back)
        part: ast.expr | None = None
        if isinstance(whole, ast.Tuple | ast.List) and isinstance(key, int) and -1 <= key < len(whole.elts):
            part = whole.elts[key]
        elif isinstance(whole, ast.Dict):
            pairs = zip(whole.keys, whole.values, strict=True)
            part = next((value for name, value in pairs if tree.literal(name) == key), None)
        call = follow.followed(source, follow.peeled(part, _SAME)) if part is not None else None
        if isinstance(call, ast.Call) and source.name(call.func) == "torch.nn.utils.rnn.pad_sequence":
            yield call


def _without_ignore_index(source: Source, found: list[losses.LossCall], pad: re.Match[str] | None) -> Iterator[Hit]:
    seen: set[ast.AST] = set()
    for loss in found:
        filled = (
            next((one for one in _collated(source, loss.target) if _has_a_name(source, one)), None)
            if loss.target
            else None
        )
        value = tree.argument(filled, 2, "padding_value") if filled is not None else None
        if value is not None and tree.literal(value) is tree.UNKNOWN and _OF_LABELS.search(source.code(value)):
            continue  # the number stands elsewhere, and is -100 as a rule
        index = source.code(value) if value is not None else pad.group(0) if pad is not None else ""
        flat = loss.target is not None and (value is not None or _FLAT.search(_text(source, loss.target)))
        made = loss.made.node if loss.made is not None else loss.call
        home = loss.made.source if loss.made is not None else source
        if not flat or not index or home is not source or not isinstance(made, ast.Call) or made in seen:
            continue
        if "one_hot" in source.code(tree.function(source, loss.call) or loss.call):
            continue  # probabilities, which take no `ignore_index`
        if tree.lacks(made, None, "ignore_index"):
            seen.add(made)
            message = f"padding counts like words here: give its index, `ignore_index={index}`"
            yield source.hit(made, message, edits.add_keyword(source, made, "ignore_index", index), safe=False)


def _text(source: Source, node: ast.expr) -> str:
    """The target as it stands, and what its name was bound to."""
    return source.code(node) + source.code(follow.followed(source, node))
