"""Parameter groups that leave nothing out, gradient clipping that says what it did, and an average of the weights."""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.parameter import UninitializedParameter
from torch.optim import Optimizer

from torchlore.recipes import _wants
from torchlore.recipes._average import EMA
from torchlore.recipes.device import unwrap

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from torch.amp.grad_scaler import GradScaler

__all__ = [
    "EMA",
    "check_groups",
    "clip_adaptive",
    "clip_norm",
    "clip_value",
    "decay_groups",
    "decays",
    "finetune_groups",
    "layer_decay_groups",
    "layer_order",
    "load_optimizer",
    "rate_groups",
    "trainable",
]

Group = dict[str, Any]
NORMS = (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)
WEIGHTED = (nn.Linear, nn.modules.conv._ConvNd, nn.Embedding, nn.EmbeddingBag, nn.Bilinear)  # noqa: SLF001 - no public base
STACKS = (nn.Sequential, nn.ModuleList)
LAZY: set[type] = {UninitializedParameter}
OURS = {"params", "param_names", "name", "initial_lr"}  # keys of a group that no optimizer declares


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    """List the parameters that require a gradient, by name, each once.

    >>> list(trainable(nn.Linear(2, 1)))
    ['weight', 'bias']
    """
    return {one.name: one.parameter for one in _owned(_modules(model))}


class _Owned(NamedTuple):
    """A trainable parameter and the module that holds it, with the names of both."""

    name: str
    parameter: nn.Parameter
    path: str
    owner: nn.Module


def _modules(model: nn.Module) -> dict[str, nn.Module]:
    """Every module once by its first name; to walk through a model takes longer than all that is done here."""
    return dict(unwrap(model).named_modules())


def _owned(modules: Mapping[str, nn.Module]) -> list[_Owned]:
    """Every trainable parameter once, under its first name."""
    found: list[_Owned] = []
    seen: set[int] = set()
    for path, module in modules.items():
        prefix = f"{path}." if path else ""
        for leaf, parameter in module._parameters.items():  # noqa: SLF001 - named_parameters() does not tell the owner
            if parameter is None or not parameter.requires_grad or id(parameter) in seen:
                continue
            if type(parameter) in LAZY:  # isinstance() of a parameter takes ten times as long
                raise ValueError(
                    f"{prefix}{leaf} has no shape yet: run one batch through the model before grouping its parameters"
                )
            seen.add(id(parameter))
            found.append(_Owned(prefix + leaf, parameter, path, module))
    if not found:
        raise ValueError(f"model is a {type(modules['']).__name__} without a parameter that requires a gradient.")
    return found


def decays(model: nn.Module) -> dict[str, bool]:
    """Tell for each trainable parameter whether weight decay makes sense for it.

    Weights of linear, convolution and embedding layers decay. Biases and whatever a normalisation layer owns do not,
    whatever their shape. Parameters of other modules decay when at least two of their sizes exceed 1 and no part of
    their name is `bias`, so that a layer scale of shape (C, 1, 1) and `bias_ih_l0` do not, and `unbias` of shape
    (3, 3) does.

    >>> decays(nn.Sequential(nn.Linear(2, 1), nn.LayerNorm(1)))
    {'0.weight': True, '0.bias': False, '1.weight': False, '1.bias': False}
    """
    return {one.name: _decays(one) for one in _owned(_modules(model))}


def _decays(one: _Owned) -> bool:
    if isinstance(one.owner, NORMS) or "bias" in one.name.rpartition(".")[2].split("_"):
        return False
    if isinstance(one.owner, WEIGHTED):
        return one.parameter.ndim > 1
    return sum(size > 1 for size in one.parameter.shape) > 1


def decay_groups(model: nn.Module, weight_decay: float, skip: str | Iterable[str] = ()) -> list[Group]:
    """Make two groups, with weight decay and without.

    Args:
        model: Only parameters that require a gradient are grouped.
        weight_decay: The decay of the first group.
        skip: More parameters without decay, as a name or pattern or several of them, such as `"*pos_embed"`; each must match one.

    Returns:
        Groups for any torch optimizer, with names.

    >>> [(g["name"], g["param_names"]) for g in decay_groups(nn.Linear(2, 1), 0.1)]
    [('decay', ['weight']), ('no decay', ['bias'])]
    """
    _wants.from_0("decay_groups", weight_decay=weight_decay)
    owned = _owned(_modules(model))
    skipped: set[str] = set()
    for pattern in _wants.names("decay_groups", skip=skip):
        skipped.update(_matching([one.name for one in owned], pattern, "skip"))
    with_decay, without = _sorted(owned, skipped)
    groups = [_group("decay", with_decay, weight_decay=weight_decay), _group("no decay", without, weight_decay=0.0)]
    return [group for group in groups if group["params"]]


def _sorted(owned: Iterable[_Owned], skipped: Collection[str] = ()) -> tuple[list[_Owned], list[_Owned]]:
    """Those with weight decay and those without."""
    with_decay: list[_Owned] = []
    without: list[_Owned] = []
    for one in owned:
        (with_decay if _decays(one) and one.name not in skipped else without).append(one)
    return with_decay, without


def _group(name: str, members: Sequence[_Owned], **options: float) -> Group:
    names, parameters = [one.name for one in members], [one.parameter for one in members]
    return {"params": parameters, "param_names": names, "name": name, **options}


def _matching(names: Iterable[str], pattern: str, argument: str) -> list[str]:
    """Names that are the pattern, lie below it (`layer4` holds `layer4.0.weight`), or fit its wildcards."""
    names = list(names)
    found = [name for name in names if name == pattern or name.startswith(pattern + ".") or fnmatchcase(name, pattern)]
    if not found:
        stems = {".".join(name.split(".")[:depth]) for name in names for depth in range(1, name.count(".") + 2)}
        near = difflib.get_close_matches(pattern, sorted(stems), n=3, cutoff=0.3) or sorted(stems)[:3]
        raise ValueError(
            f"{argument} names {pattern!r}, which fits no trainable parameter; nearest: {', '.join(near)}."
        )
    return found


def rate_groups(model: nn.Module, rates: Mapping[str, float], lr: float, weight_decay: float = 0.0) -> list[Group]:
    """Give parts of a model learning rates of their own, and the rest a common one.

    Args:
        model: Only parameters that require a gradient are grouped.
        rates: A rate for each module name or pattern. The first that fits a parameter holds; one that fits none is
            an error.
        lr: The rate of everything else.
        weight_decay: Decay for the parameters that `decays` names.

    Returns:
        Groups, split into decay and no decay where a decay is given.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> [(g["name"], g["lr"]) for g in rate_groups(net, {"0": 1e-3}, lr=1e-2)]
    [('0', 0.001), ('rest', 0.01)]
    """
    _wants.kind("rate_groups", Mapping, "a rate for each name", rates=rates)
    _wants.from_0(
        "rate_groups", lr=lr, weight_decay=weight_decay, **{f"rates[{key!r}]": one for key, one in rates.items()}
    )
    return _rate_groups(model, rates, lr, weight_decay, "rates")


def _rate_groups(model: nn.Module, rates: Mapping[str, float], lr: float, decay: float, argument: str) -> list[Group]:
    owned, patterns = _owned(_modules(model)), list(rates)
    place = dict.fromkeys((one.name for one in owned), len(patterns))
    for index, pattern in reversed(list(enumerate(patterns))):
        place |= dict.fromkeys(_matching(place, pattern, argument), index)
    shadowed = [pattern for index, pattern in enumerate(patterns) if index not in place.values()]
    if shadowed:
        raise ValueError(f"{argument} names {shadowed[0]!r}, which fits only parameters that an earlier entry takes.")
    members: list[list[_Owned]] = [[] for _ in [*patterns, "rest"]]
    for one in owned:
        members[place[one.name]].append(one)
    return _split(zip([*patterns, "rest"], members, [*rates.values(), lr], strict=True), decay)


def _split(parts: Iterable[tuple[str, Sequence[_Owned], float]], decay: float) -> list[Group]:
    groups: list[Group] = []
    for title, members, rate in parts:
        if not decay:
            groups.append(_group(title, members, lr=rate))
            continue
        with_decay, without = _sorted(members)
        groups.append(_group(title, with_decay, lr=rate, weight_decay=decay))
        groups.append(_group(title + ", no decay", without, lr=rate, weight_decay=0.0))
    return [group for group in groups if group["params"]]


def finetune_groups(
    model: nn.Module, head: str | Sequence[str], lr: float, backbone_lr: float, weight_decay: float = 0.0
) -> list[Group]:
    """Give a new head one rate and the pretrained rest a smaller one.

    Args:
        model: Only parameters that require a gradient are grouped.
        head: The name of the new layer, or several.
        lr: The rate of the head.
        backbone_lr: The rate of the rest.
        weight_decay: Decay for the parameters that `decays` names.

    Returns:
        Groups; a frozen backbone makes none.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> [(g["lr"], len(g["params"])) for g in finetune_groups(net, "1", lr=1e-2, backbone_lr=1e-3)]
    [(0.01, 2), (0.001, 2)]
    """
    heads = _wants.names("finetune_groups", head=head)
    if not heads:
        raise ValueError("finetune_groups: head is empty; name the layers that are new.")
    _wants.from_0("finetune_groups", lr=lr, backbone_lr=backbone_lr, weight_decay=weight_decay)
    return _rate_groups(model, dict.fromkeys(heads, lr), backbone_lr, weight_decay, "head")


def layer_order(model: nn.Module) -> list[str]:
    """List the layers of a model from input to output, each repeated block as one.

    Stacks (containers with two children of one type) are taken apart, everything else is one layer; parameters that
    sit between the layers belong to the first.

    >>> layer_order(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)))
    ['0', '2']
    """
    return _order(_modules(model))


def _order(modules: Mapping[str, nn.Module]) -> list[str]:
    around: set[str] = set()  # the names of all stacks and of what holds them
    for path, module in modules.items():
        if _is_stack(module):
            around.update(path[:end] for end, letter in enumerate(f"{path}.") if letter == ".")
    return list(_layers(modules[""], "", around))


def _layers(module: nn.Module, prefix: str, around: Collection[str]) -> Iterator[str]:
    stack = _is_stack(module)
    for name, child in module.named_children():
        one_block = stack and not isinstance(child, STACKS)
        if prefix + name in around and not one_block:
            yield from _layers(child, f"{prefix}{name}.", around)
        elif _has_parameters(child):
            yield prefix + name


def _is_stack(module: nn.Module) -> bool:
    if not isinstance(module, STACKS):
        return False
    kinds = [type(child) for child in module.children() if _has_parameters(child)]
    return len(kinds) > len(set(kinds))


def _has_parameters(module: nn.Module) -> bool:
    return any(one is not None for part in module.modules() for one in part._parameters.values())  # noqa: SLF001 - parameters() takes thrice as long


def layer_decay_groups(
    model: nn.Module, lr: float, decay: float, weight_decay: float = 0.0, layers: Sequence[str] | None = None
) -> list[Group]:
    """Let the rate shrink by a factor with every layer from the output back to the input.

    Args:
        model: Only parameters that require a gradient are grouped.
        lr: The rate of the last layer.
        decay: The factor a layer, such as 0.75; layer i of n gets `lr * decay ** (n - 1 - i)`.
        weight_decay: Decay for the parameters that `decays` names.
        layers: Module names from input to output; by default `layer_order(model)`. Parameters outside them get the
            rate of the first.

    Returns:
        Groups, one or two a layer.

    >>> net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    >>> [g["lr"] for g in layer_decay_groups(net, lr=1.0, decay=0.5)]
    [0.5, 1.0]
    """
    _wants.number("layer_decay_groups", "above 0 and at most 1", lambda x: 0 < x <= 1, decay=decay)
    _wants.from_0("layer_decay_groups", lr=lr, weight_decay=weight_decay)
    modules = _modules(model)
    owned = _owned(modules)
    given = [] if layers is None else _wants.names("layer_decay_groups", layers=layers)
    names = given or _order(modules) or ["all"]
    for layer in given:  # a frozen layer of our own list is no error
        _matching([one.name for one in owned], layer, "layers")
        if layer not in modules:
            raise ValueError(f"layers names {layer!r}, which is no module; it takes those, from input to output.")
    places = _places(modules, names)
    members: list[list[_Owned]] = [[] for _ in names]
    for one in owned:
        members[places[one.path]].append(one)
    rates = [lr * decay**back for back in reversed(range(len(names)))]
    return _split(zip(names, members, rates, strict=True), weight_decay)


def _places(modules: Iterable[str], layers: Sequence[str]) -> dict[str, int]:
    """For each module the number of the last layer that it is or lies in, and 0 outside all of them."""
    numbers = {layer: index for index, layer in enumerate(layers)}
    places: dict[str, int] = {}
    for path in modules:  # what holds a module comes before it
        around = places.get(path.rpartition(".")[0], 0)
        places[path] = max(around, numbers.get(path, 0))
    return places


def check_groups(groups: Iterable[Mapping[str, Any]], model: nn.Module, optimizer: type[Optimizer]) -> None:
    """Raise where groups name a key the optimizer does not know, leave a parameter out, or give one twice.

    Torch takes any key of a group and ignores what it does not know, so `{"learning_rate": ...}` trains at the
    default rate without a word.

    Args:
        groups: What will be given to the optimizer.
        model: Every parameter of it that requires a gradient must be in exactly one group.
        optimizer: The class that will be built.

    >>> check_groups([{"params": []}], nn.Linear(1, 1), torch.optim.SGD)
    Traceback (most recent call last):
        ...
    ValueError: 2 trainable parameters are in no group: weight, bias
    """
    _wants.function("check_groups", optimizer=optimizer)
    known = OURS | set(inspect.signature(optimizer).parameters) - {"params"}
    holders: dict[int, list[int]] = {}
    for number, group in enumerate(_wants.several("check_groups", Mapping, "a dict", groups=groups)):
        strange = sorted(set(group) - known)
        if strange:
            fits = ", ".join(sorted(known - OURS))
            raise ValueError(
                f"group {number} has the key {strange[0]!r}, which {optimizer.__name__} does not know; it knows {fits}"
            )
        if "params" not in group:
            raise ValueError(f"group {number} has no 'params'; its keys are {', '.join(sorted(group))}")
        for parameter in group["params"]:
            holders.setdefault(id(parameter), []).append(number)
    wanted = {id(p): name for name, p in trainable(model).items()}
    _say_missing([name for key, name in wanted.items() if key not in holders], "are in no group")
    _say_missing([name for key, name in wanted.items() if len(holders[key]) > 1], "are in more than one group")


def _say_missing(names: list[str], what: str) -> None:
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise ValueError(f"{len(names)} trainable parameters {what}: {', '.join(names[:3])}{more}")


def load_optimizer(optimizer: Optimizer, state: Mapping[str, Any]) -> None:
    """Load an optimizer's state after making sure that it belongs to these parameters.

    Torch matches by position and takes buffers of any shape. Here the groups that carry `param_names` (those of this
    module do) are matched by name, in whatever order, and every buffer must have its parameter's shape.

    Args:
        optimizer: Built over the same parameters.
        state: What its `state_dict()` gave.

    >>> net = nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(decay_groups(net, 0.1), lr=0.1, momentum=0.9)
    >>> load_optimizer(optimizer, optimizer.state_dict())
    """
    _wants.kind("load_optimizer", Optimizer, "an optimizer of torch", optimizer=optimizer)
    if not isinstance(state, Mapping) or not {"param_groups", "state"} <= state.keys():
        raise ValueError(_wants.message("load_optimizer", "state", state, "what an optimizer's state_dict() gave"))
    saved, present = state["param_groups"], optimizer.param_groups
    if len(saved) != len(present):
        raise ValueError(
            f"load_optimizer: state has {len(saved)} groups ({saved!r:.40}), the optimizer {len(present)}."
        )
    if all("param_names" in group for group in [*saved, *present]):
        saved = [_reorder(saved, number, group["param_names"]) for number, group in enumerate(present)]
    buffers: dict[Any, Any] = {}
    for number, (old, new) in enumerate(zip(saved, present, strict=True)):
        if len(old["params"]) != len(new["params"]):
            counts = f"{len(old['params'])} parameters saved, {len(new['params'])} here"
            raise ValueError(f"group {number} of the optimizer does not fit: {counts}")
        for key, parameter in zip(old["params"], new["params"], strict=True):
            if key in state["state"]:
                buffers[key] = _own_buffers(state["state"][key], parameter, number)
    optimizer.load_state_dict({**state, "state": buffers, "param_groups": saved})


def _reorder(saved: list[Group], number: int, names: list[str]) -> Group:
    for group in saved:
        if set(group["param_names"]) == set(names):
            keys = dict(zip(group["param_names"], group["params"], strict=True))
            return {**group, "params": [keys[name] for name in names], "param_names": list(names)}
    known = {name for group in saved for name in group["param_names"]}
    new = [name for name in names if name not in known]
    detail = f"{new[0]} was not in it" if new else "its parameters were grouped in another way"
    raise ValueError(f"group {number} has no counterpart in the saved optimizer: {detail}")


def _own_buffers(buffers: Mapping[str, Any], parameter: torch.Tensor, number: int) -> dict[str, Any]:
    """Checked copies: torch would go on writing into the very tensors that it was given."""
    for name, value in buffers.items():
        factored = name in {"row_var", "col_var"}  # Adafactor keeps rows and columns only
        if isinstance(value, torch.Tensor) and value.ndim and not factored and value.shape != parameter.shape:
            shapes = f"{tuple(value.shape)} for a parameter of shape {tuple(parameter.shape)}"
            raise ValueError(f"group {number} of the saved optimizer holds {name} of shape {shapes}")
    return {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in buffers.items()}


def _gradients(parameters: nn.Module | Iterable[torch.Tensor]) -> list[torch.Tensor]:
    given = parameters.parameters() if isinstance(parameters, nn.Module) else parameters
    owned = _wants.several("", torch.Tensor, "a tensor", parameters=given)
    if not owned:
        raise ValueError("parameters is empty; a generator such as model.parameters() is spent after its first use")
    found = [p for p in owned if p.grad is not None]
    if not found:
        shapes = ", ".join(str(tuple(p.shape)) for p in owned[:3])
        raise RuntimeError(
            f"no parameter has a gradient (of shapes {shapes}): clip after backward() and before optimizer.step()"
        )
    return found


def clip_norm(
    parameters: nn.Module | Iterable[torch.Tensor],
    max_norm: float,
    *,
    nonfinite: Literal["raise", "drop", "keep"] = "raise",
    scaler: GradScaler | None = None,
    optimizer: Optimizer | None = None,
) -> torch.Tensor:
    """Scale all gradients down so that their common norm is at most `max_norm`, and give the norm they had.

    Args:
        parameters: A model, or its parameters.
        max_norm: The largest norm to leave; `float("inf")` only measures.
        nonfinite: What to do about a norm that is inf or NaN. `raise` names the parameters. `drop` sets every
            gradient to None, so that the step changes nothing. `keep` leaves the gradients alone and never waits for
            the device. With a scaler it is always `keep`, because the scaler itself skips such a step.
        scaler: Unscales the gradients first; clipping scaled ones would cut at the wrong height.
        optimizer: The one whose gradients the scaler unscales.

    Returns:
        The norm before clipping, a tensor on the gradients' device.

    >>> weight = nn.Parameter(torch.zeros(2)); weight.grad = torch.tensor([3.0, 4.0])
    >>> clip_norm([weight], 1.0), weight.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    _wants.above_0("clip_norm", max_norm=max_norm)
    _wants.one_of("clip_norm", "nonfinite", nonfinite, ("raise", "drop", "keep"))
    names = {id(p): n for n, p in parameters.named_parameters()} if isinstance(parameters, nn.Module) else {}
    owned = _gradients(parameters)
    if scaler is not None or optimizer is not None:
        _wants.kind("clip_norm", Optimizer, "the one whose gradients the scaler unscales", optimizer=optimizer)
    if scaler is not None and optimizer is not None:
        _wants.kind("clip_norm", torch.amp.GradScaler, "a GradScaler", scaler=scaler)
        scaler.unscale_(optimizer)
        nonfinite = "keep" if scaler.is_enabled() else nonfinite
    norm = nn.utils.get_total_norm([p.grad for p in owned if p.grad is not None])
    whole = getattr(norm, "full_tensor", None)  # a DTensor's, whose import takes a second
    if whole is not None:  # of gradients that FSDP2 has split: each process knows a part of it
        norm = whole()
    if nonfinite == "keep" and norm.device.type != "cpu":  # to read the norm would be to wait for the device
        # a norm of 0 makes torch multiply by 1, so gradients that are not finite stay readable
        nn.utils.clip_grads_with_norm_(owned, max_norm, torch.where(norm.isfinite(), norm, 0.0))
        return norm
    height = norm.item()
    if not math.isfinite(height):
        _nonfinite(owned, names, nonfinite)
    elif height * (1 + 1e-6) + 1e-6 > max_norm:  # below that torch would multiply everything by 1
        nn.utils.clip_grads_with_norm_(owned, max_norm, norm)
    return norm


def _nonfinite(owned: list[torch.Tensor], names: Mapping[int, str], what: str) -> None:
    if what == "keep":
        return
    if what == "drop":
        for parameter in owned:
            parameter.grad = None
        return
    bad = [
        names.get(id(p), f"parameter {number} of shape {tuple(p.shape)}")
        for number, p in enumerate(owned)
        if p.grad is not None and not bool(p.grad.isfinite().all())
    ]
    where = ", ".join(bad[:3]) + (f" and {len(bad) - 3} more" if len(bad) > 3 else "")
    raise FloatingPointError(f"the gradient of {where or 'all parameters together'} is not finite; nothing was clipped")


def clip_value(parameters: nn.Module | Iterable[torch.Tensor], limit: float) -> None:
    """Cut every element of every gradient to [-limit, limit]; NaN stays NaN.

    >>> weight = nn.Parameter(torch.zeros(2)); weight.grad = torch.tensor([3.0, -0.5])
    >>> clip_value([weight], 1.0); weight.grad
    tensor([ 1.0000, -0.5000])
    """
    _wants.above_0("clip_value", limit=limit)
    nn.utils.clip_grad_value_(_gradients(parameters), limit)


def clip_adaptive(parameters: nn.Module | Iterable[torch.Tensor], factor: float = 0.01, least: float = 1e-3) -> None:
    """Cut each output unit's gradient to a fraction of that unit's weight norm (adaptive gradient clipping).

    Args:
        parameters: A model, or its parameters; leave the head out as its authors do.
        factor: The largest ratio of the two norms.
        least: The norm below which a unit's weights count as this large.

    >>> weight = nn.Parameter(torch.ones(1, 4)); weight.grad = torch.ones(1, 4)
    >>> clip_adaptive([weight]); weight.grad
    tensor([[0.0100, 0.0100, 0.0100, 0.0100]])
    """
    _wants.above_0("clip_adaptive", factor=factor, least=least)
    for parameter in _gradients(parameters):
        if parameter.grad is None:
            continue
        limit = _unit_norm(parameter.detach()).clamp_(min=least) * factor
        parameter.grad.mul_((limit / _unit_norm(parameter.grad).clamp(min=1e-6)).clamp_(max=1.0))


def _unit_norm(value: torch.Tensor) -> torch.Tensor:
    dims = tuple(range(1, value.ndim)) or None  # a bias is one unit
    norm: torch.Tensor = torch.linalg.vector_norm(value, dim=dims, keepdim=dims is not None)
    return norm
