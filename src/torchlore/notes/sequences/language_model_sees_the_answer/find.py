"""The rule of language-model-sees-the-answer."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import losses, tensors, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LAYERS = ("torch.nn.MultiheadAttention", "torch.nn.TransformerEncoder", "torch.nn.TransformerEncoderLayer")
_DECODERS = {
    "torch.nn.Transformer": 3,
    "torch.nn.TransformerDecoder": 2,
    "torch.nn.TransformerDecoderLayer": 2,
}  # tgt_mask
_DRAWS = regex(r"generat|sampl|search|greedy|beam|predict|infer|translate")
_HIDES = regex(r"tri[ul]|is_causal|causal|square_subsequent|mask|-inf", re.IGNORECASE)

WORDS = ("|".join(name.rpartition(".")[2] for name in (*_LAYERS, *_DECODERS)),)


def find(source: Source) -> Iterator[Hit]:
    decodes = any(source.calls(*_DECODERS)) and "is_causal" not in source.text
    if not decodes and not any(source.calls(*_LAYERS)):
        return
    hides = _HIDES.search(source.text) is not None  # something is hidden from something
    if hides and not decodes:
        return
    layers = (*(() if hides else _LAYERS), *(_DECODERS if decodes else ()))
    shifted = {_shifted(one) for one in source.all(ast.Subscript)}
    both = [f"{name}[:, 1:]" for name, way in shifted if name and way == "input" and (name, "target") in shifted]
    both += _windows(source)
    if not both or not losses.loss_calls(source, "CrossEntropyLoss", "cross_entropy", "NLLLoss", "nll_loss"):
        return
    for call in source.all(ast.Call):
        layer = values.made_by(source, call.func, *layers) if source.name(call.func) not in layers else None
        masked = (
            layer is not None and layer.name in _DECODERS and not tree.lacks(call, _DECODERS[layer.name], "tgt_mask")
        )
        if layer is None or masked or (layer.name.endswith("MultiheadAttention") and not _on_itself(source, call)):
            continue
        if _writes(source, call):
            continue
        told = f"each position sees the next word, which is its target (`{both[0]}`)"
        yield source.hit(call, f"{told}: pass a causal mask, nn.Transformer.generate_square_subsequent_mask(n)")


def _writes(source: Source, call: ast.Call) -> bool:
    """Whether words are drawn here, one after the other: what comes next is not there to be seen."""
    names = (up.name for up in tree.ancestors(source, call) if isinstance(up, tree.FunctionNode))
    return tensors.no_grad_around(source, call) or any(_DRAWS.search(name) for name in names)


def _shifted(node: ast.Subscript) -> tuple[str, str]:
    """`words` and what it is used for in `words[:, :-1]` and `words[:, 1:]`."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
    if len(parts) != 2 or not all(isinstance(one, ast.Slice) and one.step is None for one in parts):
        return "", ""
    first, second = parts
    if not isinstance(first, ast.Slice) or not isinstance(second, ast.Slice) or first.lower is not first.upper:
        return "", ""
    low, high = (tree.literal(one) if one is not None else None for one in (second.lower, second.upper))
    way = "input" if (low is None and high == -1) else "target" if (low == 1 and high is None) else ""
    return tree.dotted(node.value), way


def _windows(source: Source) -> list[str]:
    """`data[i + 1 : i + n + 1]` beside `data[i : i + n]`: the same stretch, one place on."""
    found = dict[str, set[str]]()
    for one in source.all(ast.Subscript):
        if isinstance(one.slice, ast.Slice) and one.slice.lower is not None and one.slice.upper is not None:
            found.setdefault(tree.dotted(one.value), set()).add(source.code(one.slice).replace(" ", ""))
    moved = list[str]()
    for name, parts in found.items():
        for part in parts if name else ():
            low, _, high = part.partition(":")
            ends = (f"{high}+1", f"{low}+1+{high.removeprefix(low + '+')}", f"1+{high}")
            moved += [f"{name}[{low} + 1 : ...]" for end in ends if f"{low}+1:{end}" in parts]
    return moved


def _on_itself(source: Source, call: ast.Call) -> bool:
    given = [source.code(one) for one in call.args[:3]]
    return len(given) == 3 and len(set(given)) == 1
