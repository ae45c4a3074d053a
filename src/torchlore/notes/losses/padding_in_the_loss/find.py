"""The rule of padding-in-the-loss."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, losses, tree, uses
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_PADS = re.compile(
    r"\b(pad_idx|pad_index|pad_id|pad_token_id|PAD_IDX|PAD_ID|PAD|src_pad_idx|trg_pad_idx|tgt_pad_idx)\b"
)
_CARES = re.compile(r"-100|reduction=.none|weight=|packed|pack_padded")
_MASKS = re.compile(r"ignore_index|[Mm]ask")
_OF_LAYERS = re.compile(
    r"\b\w*(src|tgt|trg|memory|key|attn|attention|causal|subsequent|square|pad)\w*_mask\w*|\bmask=\w+"
)
_FILLING = re.compile(
    r"padding_idx|padding_value|pad_sequence|full\(|\.pad\(|\*|\[ *\w*(pad|PAD)\w* *[\],]|[<\[]pad|stoi|vocab|= *\d|append|extend"
)
_TARGET = re.compile(r"(^|_)(tag|label|target|trg|tgt|y)s?($|_)", re.IGNORECASE)
_FLAT = re.compile(r"\.(view|reshape|flatten)\(")


def find(source: Source) -> Iterator[Hit]:
    found = losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss")
    named = found and ("pad" in source.text or "PAD" in source.text)
    if not found or _CARES.search(source.text):
        return
    spared = {source.code(loss.target) for loss in found if loss.target is not None and _ignores(source, loss)}
    found = [one for one in found if not spared or (one.target is not None and source.code(one.target) in spared)]
    found = [one for one in found if not _ignores(source, one) and not _masked(source, one, known=bool(spared))]
    found = [one for one in found if not spared or not no_grad_around(source, one.call)]
    if not found:
        return
    flat = any(loss.target is not None and _FLAT.search(_text(source, loss.target)) for loss in found)
    if filled := _filled_targets(source) if flat else []:
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
    yield from _without_ignore_index(source, found, next(words, None) if named else None)


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


def _filled_targets(source: Source) -> list[ast.Call]:
    """`labels = pad_sequence(labels)` with an index that may be a class."""
    return [
        call
        for call in source.calls("torch.nn.utils.rnn.pad_sequence")
        if isinstance(up := tree.statement(source, call), ast.Assign)
        and _TARGET.search(tree.dotted(up.targets[0]).rpartition(".")[2])
        and (tree.lacks(call, 2, "padding_value") or tree.literal(tree.argument(call, 2, "padding_value")) == 0)
    ]


def _without_ignore_index(source: Source, found: list[losses.LossCall], pad: re.Match[str] | None) -> Iterator[Hit]:
    seen: set[ast.AST] = set()
    if pad is None:
        return
    for loss in found:
        flat = loss.input is not None and loss.target is not None and _FLAT.search(_text(source, loss.target))
        made = loss.made.node if loss.made is not None else loss.call
        home = loss.made.source if loss.made is not None else source
        if not flat or home is not source or not isinstance(made, ast.Call) or made in seen:
            continue
        if "one_hot" in source.code(tree.function(source, loss.call) or loss.call):
            continue  # probabilities, which take no `ignore_index`
        if tree.lacks(made, None, "ignore_index"):
            seen.add(made)
            message = f"padding counts like words here: give its index, `ignore_index={pad.group(0)}`"
            yield source.hit(made, message, edits.add_keyword(source, made, "ignore_index", pad.group(0)), safe=False)


def _text(source: Source, node: ast.expr) -> str:
    """The target as it stands, and what its name was bound to."""
    return source.code(node) + source.code(follow.followed(source, node))
