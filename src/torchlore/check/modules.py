"""What a module is made of: layers that behave differently in train and eval mode, and layers without parameters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from torchlore.check import api
from torchlore.check.classes import attributes, class_behind
from torchlore.check.values import Value, values

if TYPE_CHECKING:
    from torchlore.check.source import Source

_MODE = re.compile(r"^torch\.nn\.(?:\w*Dropout\w*|\w*BatchNorm\w*|RReLU)$")
_PLAIN = re.compile(
    r"^torch\.nn\.(?:\w*ReLU\d?|Sigmoid|Tanh|GELU|SiLU|ELU|SELU|CELU|Mish|Softmax\w*|LogSoftmax|Softplus|Softsign|Identity|"
    r"Flatten|Unflatten|\w*Dropout\w*|\w*Pool\w*|Hardtanh|Hardswish|Hardsigmoid|Upsample\w*|PixelShuffle|PixelUnshuffle|"
    r"\w*Pad\w*|\w*Loss|CosineSimilarity|PairwiseDistance|Fold|Unfold|ChannelShuffle|LogSigmoid|Threshold|GLU)$"
)


def mode_layers(source: Source, value: Value, depth: int = 6) -> bool | None:
    """Whether train and eval mode differ for a module: True, False, or None where its layers cannot all be seen."""
    if value.name in api.WRAPPERS or value.kind in ("sequential", "modulelist", "moduledict", "list", "dict"):
        return (
            _any(mode_layers(source, one, depth - 1) for group in value.items for one in group) if value.items else None
        )
    if value.name.startswith(("torchvision.models.", "timm.")):
        return True
    if value.name.startswith("torch.nn.") and value.name != "torch.nn.Module":
        return bool(_MODE.match(value.name)) or "Transformer" in value.name
    owner = class_behind(source, value)
    if owner is None or depth <= 0:
        return None
    return _any(_attribute_modes(source, found, depth) for found in attributes(owner).values())


def _attribute_modes(source: Source, assigned: list, depth: int) -> bool | None:  # type: ignore[type-arg]  # Attribute
    answers: list[bool | None] = []
    for one in assigned:
        if one.value is None:
            continue
        for value in values(one.source, one.value):
            if api.is_kind(value.kind, "module") or value.kind in ("list", "dict"):
                answers.append(mode_layers(source, value, depth - 1))
            elif not value.kind:
                answers.append(None)
    return _any(answers)


def _any(answers: object) -> bool | None:
    found = list(answers)  # type: ignore[call-overload]  # any iterable of answers
    return True if True in found else None if None in found else False


def parameterless(value: Value) -> bool:
    """Whether a module surely has no parameters."""
    if value.kind == "sequential" and value.items:
        return all(parameterless(one) for group in value.items for one in group)
    return bool(_PLAIN.match(value.name)) and value.name != "torch.nn.PReLU"
