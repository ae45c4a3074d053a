"""The rule of padding-in-the-labels."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree, uses, values
from torchlore.check.source import Hit, Source

_PADS = (True, "max_length", "longest")
_LEARNS = (
    "CausalLM",
    "LMHead",
    "ForConditionalGeneration",
    "Seq2SeqLM",
    "EncoderDecoderModel",
)  # whose loss leaves out -100
_MASKS = (
    "-100",
    "ignore_index",
    "DataCollatorFor",
    "loss_mask",
    "pad_token_id)",
    "== pad",
    "!= pad",
)  # somebody thought of it
_SAME = ("clone", "copy", "detach", "squeeze", "to", "tolist")
WORDS = ("labels", "input_ids", "padding", "transformers")


def find(source: Source) -> Iterator[Hit]:
    text = source.text
    if any(word in text for word in _MASKS) or not any(word in text for word in _LEARNS):
        return
    for place, value in _labelled(source):
        padded = _tokenized(source, value)
        if padded is not None:
            told = f"these labels hold the padding of `{source.code(padded.func)}(..., padding=...)`, and it is learned like words"
            yield source.hit(place, f"{told}: set them to -100 where the attention mask is 0")


def _labelled(source: Source) -> Iterator[tuple[ast.AST, ast.expr]]:
    """`batch["labels"] = x`, `{"labels": x}` and `model(..., labels=x)`."""
    for one in uses.assigns(source, ast.Subscript):
        target = one.targets[0]
        if isinstance(target, ast.Subscript) and tree.literal(target.slice) == "labels":
            yield one, one.value
    for table in source.all(ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            if key is not None and tree.literal(key) == "labels":
                yield value, value
    for given in uses.keywords(source, "labels"):
        yield given.value, given.value


def _tokenized(source: Source, value: ast.expr) -> ast.Call | None:
    """The padding call of a tokenizer whose ids these are."""
    for _ in range(3):  # `labels = ids.clone()` of `ids = batch["input_ids"].squeeze(0)`
        value = follow.peeled(follow.followed(source, value), _SAME)
    ids = isinstance(value, ast.Subscript) and tree.literal(value.slice) == "input_ids"
    if not ids and not (isinstance(value, ast.Attribute) and value.attr == "input_ids"):
        return None
    call = follow.followed(source, value.value)  # type: ignore[attr-defined]  # both have one
    call = follow.peeled(call, ("to",)) if isinstance(call, ast.Call) else call
    if not isinstance(call, ast.Call) or tree.literal(tree.argument(call, None, "padding")) not in _PADS:
        return None
    named = re.search(r"(^|[._])(\w*_)?tok(enizer|enize)?(_\w+)?$", tree.dotted(call.func)) is not None
    return call if named or "tokenizer" in values.kind(source, call.func) else None
