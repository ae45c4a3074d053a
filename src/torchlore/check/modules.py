"""What a module is made of: layers that behave differently in train and eval mode, and layers without parameters."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchlore.check import api
from torchlore.check.classes import Attribute, attributes, class_behind, is_module, methods
from torchlore.check.pattern import regex
from torchlore.check.tree import UNKNOWN, argument, class_of, dotted, function, literal
from torchlore.check.uses import attributes as attributes_of
from torchlore.check.values import Value, values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torchlore.check.project import Class
    from torchlore.check.source import Source

_MODE = regex(r"^torch\.nn\.(?:\w*Dropout\w*|\w*BatchNorm\w*|RReLU)$")
_PLAIN = regex(
    r"^torch\.nn\.(?:\w*ReLU\d?|Sigmoid|Tanh|GELU|SiLU|ELU|SELU|CELU|Mish|Softmax\w*|LogSoftmax|Softplus|Softsign|Identity|"
    r"Flatten|Unflatten|\w*Dropout\w*|\w*[Pp]ool\w*|Hard\w+|Upsampl\w+|PixelShuffle|PixelUnshuffle|Softmin|\w+shrink|"
    r"\w*Pad\w*|\w*Loss(?:2d)?|CosineSimilarity|PairwiseDistance|Fold|Unfold|ChannelShuffle|LogSigmoid|Threshold|GLU|"
    r"LocalResponseNorm|CrossMapLRN2d)$|^einops\.layers\.torch\.(?:Rearrange|Reduce)$|^torch_geometric\.nn\.(?:APPNP|LGConv|SimpleConv|LabelPropagation|(?:Mean|Max|Min|Sum)Aggregation)$"
)
_VGG = regex(r"^torchvision\.models\.(?:vgg\.)?vgg\d+$")  # `vgg19_bn` has batch norms
_ANY_LAYER = ("children()", "modules()", "getattr(", "_modules")  # may call a layer without its name
_NORMS = regex(r"^torch\.nn\.(InstanceNorm\dd|LayerNorm|GroupNorm|RMSNorm)$")


def mode_layers(source: Source, value: Value, depth: int = 6, made: ast.AST | None = None) -> bool | None:
    """Whether train and eval mode differ for a module: True, False, or None where its layers cannot all be seen.

    `made` is the call that made the module in which it stands: `Net(128, 0.5)` tells the share of its dropout.
    """
    if value.name in api.WRAPPERS or value.kind in ("sequential", "modulelist", "moduledict", "list", "dict"):
        inner = (mode_layers(source, one, depth - 1, made) for group in value.items for one in group)
        return _any(inner) if value.items else None
    if value.name.startswith(("torchvision.models.", "timm.")):
        return True
    if value.name in ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"):
        return _recurrent(value)
    if value.name.startswith("torch.nn.") and value.name != "torch.nn.Module":
        return _switches(value, made) if _MODE.match(value.name) else _transformer(source, value, depth)
    owner = class_behind(source, value)
    if owner is None or depth <= 0:
        return None
    table = attributes(owner)
    used = [found for name, found in table.items() if _is_used(owner, name)]
    return _any(_attribute_modes(source, found, depth, value.node) for found in used)


def _is_used(owner: Class, name: str) -> bool:
    """Whether somebody may call this layer: `self.dropout = ...` that only a comment names drops nothing."""
    if "forward" not in methods(owner) or any(word in owner.source.text for word in _ANY_LAYER):
        return True
    return any(isinstance(one.ctx, ast.Load) and _is_of(owner, one) for one in attributes_of(owner.source, name))


def _is_of(owner: Class, read: ast.Attribute) -> bool:
    """Whether `self.dropout` is read in this class or one of its kin; of any other object it may be this one."""
    node = class_of(owner.source, read)
    if node is None or node is owner.node or dotted(read.value) != "self":
        return True
    return any(
        isinstance(base, ast.Name | ast.Attribute) and not dotted(base).endswith("Module")
        for base in (*node.bases, *owner.node.bases)
    )


def _attribute_modes(source: Source, assigned: list[Attribute], depth: int, made: ast.AST | None) -> bool | None:
    answers: list[bool | None] = []
    if _is_bare_vgg(assigned):
        return False
    for one in assigned:
        if one.value is None:
            continue
        for value in values(one.source, one.value):
            if api.is_kind(value.kind, "module") or value.kind in ("list", "dict"):
                answers.append(mode_layers(source, value, depth - 1, made))
            elif not value.kind:
                answers.append(None)
    return None if len(assigned) > 1 and {True, False} <= set(answers) else _any(answers)


def _is_bare_vgg(assigned: list[Attribute]) -> bool:
    """`self.net = vgg19()` and then `self.net = self.net.features[:-1]`: convolutions and ReLUs, without the dropout behind them."""
    last = assigned[-1] if len({one.method for one in assigned}) == 1 else None
    part = last.value if last is not None else None
    while isinstance(part, ast.Subscript):
        part = part.value
    if last is None or not isinstance(part, ast.Attribute) or part.attr != "features":
        return False
    earlier = [one.value for one in assigned[:-1] if one.value is not None]  # where it is taken from itself
    whole = [found for one in earlier or [part.value] for found in values(last.source, one)]
    return bool(whole) and all(_VGG.match(one.name) for one in whole)


def _any(answers: Iterable[bool | None]) -> bool | None:
    found = list(answers)
    return True if True in found else None if None in found else False


def _transformer(source: Source, value: Value, depth: int) -> bool | None:
    """A transformer has dropout of its own, unless it is told 0; a stack of layers has what its layer has."""
    if "Transformer" not in value.name or not isinstance(value.node, ast.Call) or not value.source:
        return "Transformer" in value.name
    layer = argument(value.node, 0, value.name.removeprefix("torch.nn.Transformer").lower() + "_layer")
    if value.name in ("torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder") and layer is not None and depth > 0:
        inner = [mode_layers(source, one, depth - 1) for one in values(value.source, layer)]
        return _any(inner) if inner else True
    share = argument(value.node, 5 if value.name == "torch.nn.Transformer" else 3, "dropout")
    return literal(share) != 0 if share is not None else True


def _recurrent(value: Value) -> bool | None:
    """`nn.LSTM(8, 8, 2, dropout=0.3)` drops between its layers; a single layer has nothing between."""
    call = value.node if isinstance(value.node, ast.Call) else None
    share, layers = (
        argument(call, at, name) if call is not None else None for at, name in ((5, "dropout"), (2, "num_layers"))
    )
    if share is None or layers is None:
        return False
    known = (literal(share), literal(layers))
    if known[0] == 0 or known[1] == 1:
        return False
    return True if all(isinstance(one, int | float) for one in known) else None


def _told(home: ast.FunctionDef | ast.AsyncFunctionDef, name: str, made: ast.AST | None) -> object:
    """What the call that makes an object gives this parameter of its `__init__`, where it is written there."""
    names = [one.arg for one in (*home.args.posonlyargs, *home.args.args)][1:] if home.name == "__init__" else []
    if not isinstance(made, ast.Call) or name not in names:
        return UNKNOWN
    given = argument(made, names.index(name), name)
    return literal(given) if given is not None else UNKNOWN


def _switches(value: Value, made: ast.AST | None = None) -> bool | None:
    """A dropout of 0 drops nothing in either mode; one whose share is a parameter may be one of those."""
    share = argument(value.node, 0, "p") if isinstance(value.node, ast.Call) and "Dropout" in value.name else None
    if share is None or not value.source:
        return True
    if literal(share) == 0:
        return False
    given = [one.node for one in values(value.source, share)]
    home = function(value.source, share)
    if isinstance(share, ast.Name) and home is not None:
        told = _told(home, share.id, made)
        if isinstance(told, int | float):
            return told != 0
        named = [*home.args.posonlyargs, *home.args.args]
        pairs = [*zip(named[::-1], home.args.defaults[::-1], strict=False)]
        pairs += [(a, b) for a, b in zip(home.args.kwonlyargs, home.args.kw_defaults, strict=True) if b is not None]
        given += [default for one, default in pairs if one.arg == share.id]
    return None if any(isinstance(one, ast.Constant) and not one.value for one in given) else True


def parameterless(value: Value, depth: int = 4) -> bool:
    """Whether a module surely has no parameters and does the same in train and eval mode."""
    if value.kind == "sequential" and value.items:
        return all(parameterless(one, depth - 1) for group in value.items for one in group)
    owner = class_behind(value.source, value) if value.source else None
    if owner is not None and depth:
        if not is_module(owner) or re.search(r"self\.training\b", owner.source.code(owner.node)):
            return False
        return all(_no_layer(one, depth) for found in attributes(owner).values() for one in found)
    return value.name != "torch.nn.PReLU" and (bool(_PLAIN.match(value.name)) or _bare_norm(value))


def _bare_norm(value: Value) -> bool:
    """`InstanceNorm2d(n)` and `LayerNorm(n, elementwise_affine=False)`: a norm without weights and statistics."""
    if not isinstance(value.node, ast.Call) or not _NORMS.match(value.name):
        return False
    told = [
        literal(one.value) for one in value.node.keywords if "affine" in (one.arg or "") or "track" in (one.arg or "")
    ]
    return (not told and "Instance" in value.name and len(value.node.args) == 1) or (
        bool(told) and all(one is False for one in told)
    )


def has_parameters(value: Value, depth: int = 4) -> bool:
    """Whether a module surely has parameters: one of its layers does, or it is a network of a library."""
    if value.kind == "parameter" or value.name.startswith(("torchvision.models.", "timm.", "transformers.")):
        return True
    if value.items and (value.name in api.WRAPPERS or value.kind in ("sequential", "modulelist", "moduledict")):
        return any(has_parameters(one, depth - 1) for group in value.items for one in group)
    if value.name.startswith("torch.nn.") and value.name != "torch.nn.Module":
        return api.is_kind(value.kind, "module") and not _PLAIN.match(value.name) and not _bare_norm(value)
    owner = class_behind(value.source, value) if value.source and depth else None
    held = [one for found in attributes(owner).values() for one in found] if owner is not None else []
    return any(
        has_parameters(made, depth - 1)
        for one in held
        if one.value is not None
        for made in values(one.source, one.value)
    )


def _no_layer(one: Attribute, depth: int) -> bool:
    """Whether an attribute surely holds nothing that is trained: a setting, a plain value, a layer without parameters."""
    if one.value is None or (isinstance(one.value, ast.Subscript) and dotted(one.value.value) == f"self.{one.name}"):
        return True  # a part of itself: a setting
    if isinstance(one.value, ast.BinOp | ast.UnaryOp | ast.Compare | ast.JoinedStr):
        return True  # something that was computed
    if isinstance(one.value, ast.Name) and one.method == "__init__" and not api.weak_kind(one.value.id):
        return not any(api.is_kind(made.kind, "module") for made in values(one.source, one.value))
    plain = {"number", "bool", "string", "none", "tensor", "list", "tuple", "dict", "function"}
    found = values(one.source, one.value)
    return all(made.kind in plain or parameterless(made, depth - 1) or _without(made, depth - 1) for made in found)


def _without(value: Value, depth: int) -> bool:
    """Whether an object of a class that is no module surely keeps no layer either."""
    owner = class_behind(value.source, value) if value.kind == "object" and value.source and depth > 0 else None
    held = [one for found in attributes(owner).values() for one in found] if owner is not None else []
    return bool(held) and all(_no_layer(one, depth) for one in held)
