"""The rule of padding-row-overwritten."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, tree
from torchlore.check.pattern import regex
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_LEFT_OUT = regex("mask|pack_padded|length|seq_len", re.IGNORECASE)
_DRAWS = {"uniform_", "normal_", "fill_", "copy_"}
_INITS = ("uniform_", "normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "trunc_normal_", "constant_",
          "orthogonal_")  # fmt: skip
WORDS = ("Embedding",)


def find(source: Source) -> Iterator[Hit]:
    if "padding_idx" not in source.text and "Embedding(" not in source.text:
        return
    homes = {tree.class_of(source, call) for call in source.calls("torch.nn.Embedding") if _pads(call)}
    for cls in classes.all_classes(source) if homes else ():
        if cls.node not in homes or not classes.is_module(cls) or _LEFT_OUT.search(source.code(cls.node)):
            continue  # a mask or the lengths keep the padding out
        for name, found in classes.own_attributes(cls).items():
            made = found[0].value if len(found) == 1 else None
            padded = isinstance(made, ast.Call) and source.name(made.func) == "torch.nn.Embedding" and _pads(made)
            writes = list(_writes(source, cls, f"self.{name}.weight")) if padded else []
            if writes and not _zeroed(source, cls, f"self.{name}.weight"):
                told = f"this fills the row of the padding too, and no gradient ever reaches it: set `self.{name}.weight[padding_idx]` to zero after it"
                yield source.hit(writes[-1], told)


def _pads(made: ast.Call) -> bool:
    given = tree.argument(made, 2, "padding_idx")
    return given is not None and tree.literal(given) is not None


def _writes(source: Source, cls: Class, weight: str) -> Iterator[ast.Call]:
    """`self.emb.weight.data.uniform_(...)`, `nn.init.xavier_uniform_(self.emb.weight)`, but not with pretrained vectors."""
    for call in tree.under(source, cls.node, ast.Call):
        if follow.method(call) in ("constant_", "fill_") and call.args and tree.literal(call.args[-1]) == 0:
            continue  # zeros are what the row shall hold
        full = source.name(call.func)
        given = tree.dotted(call.args[0]).removesuffix(".data") if call.args else ""
        if (full.startswith("torch.nn.init.") and full.rpartition(".")[2] in _INITS and given == weight) or (
            follow.method(call) in _DRAWS - {"copy_"}
            and tree.dotted(tree.receiver(call)).removesuffix(".data") == weight
        ):
            yield call


def _zeroed(source: Source, cls: Class, weight: str) -> bool:
    """Whether a row of the table is written too, by any way that names it."""
    for node in tree.under(source, cls.node, ast.Subscript):
        if tree.dotted(node.value).removesuffix(".data") == weight:
            return True
    text = source.code(cls.node)
    return "_fill_padding_idx_with_zero" in text or "padding_idx]" in text
