"""Features from named layers, the classic cuts of VGG and ResNet, new heads, and layers that stay frozen."""

from __future__ import annotations

import difflib
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.utils.rnn import PackedSequence

from torchlore.recipes import _wants
from torchlore.recipes.device import map_tensors, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Features = dict[str, Any]


class _EnoughError(BaseException):
    """Leaves a forward pass when nothing more is wanted; no `except Exception` of a model stops it."""


def _resolve(model: nn.Module, names: Sequence[str]) -> dict[str, tuple[nn.Module, int]]:
    """The module and the number of its call for each wanted name."""
    found = {}
    for name in names:
        path, _, call = name.partition(":")
        module = _below(model, path) if path else None
        if module is None or (call and not call.isdecimal()):
            choice = [one for one, _ in model.named_modules(remove_duplicate=False) if one]
            near = difflib.get_close_matches(path, choice, n=3, cutoff=0.4) or choice[:3]
            raise ValueError(f"layers names {name!r}, which the model has not; nearest: {', '.join(near)}")
        found[name] = (module, int(call or 0))
    return found


def _below(model: nn.Module, path: str) -> nn.Module | None:
    """The module of that name; to list them all first would take longer than a small network's layers on a GPU."""
    module: nn.Module | None = model
    for part in path.split("."):
        module = None if module is None else module._modules.get(part)  # noqa: SLF001 - get_submodule() raises, and takes any attribute
    return module


def _copy(leaf: Any) -> Any:
    return leaf._replace(data=leaf.data.clone()) if isinstance(leaf, PackedSequence) else leaf.clone()


class _Recorder:
    """Hooks that fill a dict, and stop the forward pass when it is full."""

    def __init__(self, model: nn.Module, names: Sequence[str], stop: bool) -> None:
        self.wanted, self.stop = _resolve(model, names), stop
        self.found: Features = {}
        self.calls: dict[nn.Module, int] = {}

    def attach(self) -> ExitStack:
        stack = ExitStack()
        for module in {id(module): module for module, _ in self.wanted.values()}.values():
            stack.callback(module.register_forward_hook(self.record).remove)
        return stack

    def record(self, module: nn.Module, _args: object, output: Any) -> None:
        call = self.calls.get(module, 0)
        self.calls[module] = call + 1
        names = [name for name, (one, number) in self.wanted.items() if one is module and number == call]
        last = self.stop and len(self.found) + len(names) == len(self.wanted)
        for name in names:
            # A later in-place operation would change what was asked for. Behind the last layer there is none.
            self.found[name] = output if last else map_tensors(output, _copy)
        if last and names:
            raise _EnoughError


@contextmanager
def _mode(model: nn.Module, training: bool) -> Iterator[None]:
    """Put every module into one mode and each back into its own afterwards."""
    before = [(module, module.training) for module in model.modules()]
    if not all(flag is training for _, flag in before):
        model.train(training)
    try:
        yield
    finally:
        for module, flag in before:
            if module.training is not flag:  # to set one costs twenty looks
                module.training = flag


def extract(
    model: nn.Module,
    layers: str | Sequence[str],
    *inputs: Any,
    grad: bool = False,
    training: bool = False,
    whole: bool = False,
    **options: Any,
) -> Features:
    """Run a model and give the outputs of named layers, as they were when the layer made them.

    Layers behind the last wanted one are not computed. Hooks are removed, and each module's own mode is put back,
    also when the model raises. An in-place ReLU behind a layer does not change what is returned.

    Args:
        model: Any module; a wrapper of it is taken off.
        layers: Names as in `named_modules()`. A module that runs several times gives its first output; its second
            is `"name:1"`.
        inputs: What the model takes.
        grad: Record gradients.
        training: Run in training mode; otherwise all of it runs in evaluation mode.
        whole: Run to the end instead of stopping at the last wanted layer.
        options: Keyword arguments of the model.

    Returns:
        The outputs by name, in the order of `layers`.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True), nn.Linear(3, 1))
    >>> {name: tuple(value.shape) for name, value in extract(net, ["1", "0"], torch.ones(5, 2)).items()}
    {'1': (5, 3), '0': (5, 3)}
    """
    names = _wants.names("extract", layers=layers)
    if not names:
        raise ValueError("extract: layers is empty; name at least one layer.")
    inner = unwrap(model)
    recorder = _Recorder(inner, names, stop=not whole)
    with recorder.attach(), _mode(inner, training), torch.set_grad_enabled(grad), suppress(_EnoughError):
        inner(*inputs, **options)
    silent = [name for name in names if name not in recorder.found]
    if silent:
        ran = recorder.calls.get(recorder.wanted[silent[0]][0], 0)
        raise RuntimeError(f"the layer {silent[0]!r} gave nothing: its module ran {ran} times in this forward pass")
    return {name: recorder.found[name] for name in names}


class Extractor(nn.Module):
    """A module that gives the features of named layers; its backbone stays in evaluation mode whatever is called.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> Extractor(net, "1")(torch.ones(5, 2)).shape
    torch.Size([5, 3])
    """

    def __init__(self, model: nn.Module, layers: str | Sequence[str], grad: bool = False) -> None:
        super().__init__()
        names = _wants.names("Extractor", layers=layers)
        if not names:
            raise ValueError("Extractor: layers is empty; name at least one layer.")
        self.model, self.layers, self.grad = unwrap(model).eval(), layers, grad
        _resolve(self.model, names)

    def forward(self, *inputs: Any) -> Any:
        """Give one output for one name, or a dict for several."""
        found = extract(self.model, self.layers, *inputs, grad=self.grad and torch.is_grad_enabled())
        return found[self.layers] if isinstance(self.layers, str) else found

    def train(self, mode: bool = True) -> Extractor:
        """Change this module's own flag only."""
        self.training = mode
        return self


def vgg_layer(model: nn.Module, name: str) -> str:
    """Give the path of a VGG layer by its classic name.

    Args:
        model: A torchvision VGG of any depth, with or without batch norm.
        name: `conv3_1`, `relu5_3` (after its ReLU), `pool5`, `fc6` or `fc7`; the last two after the ReLU, as the
            papers use them, where cutting three layers off the classifier would give the values before it.

    Returns:
        A name for `extract`.

    >>> import torchvision
    >>> with torch.device("meta"): vgg_layer(torchvision.models.vgg16(), "relu5_3")
    'features.29'
    """
    names: dict[str, str] = {"fc6": "classifier.1", "fc7": "classifier.4"}
    block, number = 1, 0
    inner = unwrap(model)
    features = inner._modules.get("features")  # noqa: SLF001 - get_submodule() raises, and names no argument
    if not isinstance(features, nn.Sequential):
        raise TypeError(
            f"vgg_layer: model is a {type(inner).__name__} without features; it must be a VGG of torchvision."
        )
    for index, layer in enumerate(features):
        if isinstance(layer, nn.Conv2d):
            number += 1
            names[f"conv{block}_{number}"] = f"features.{index}"
        elif isinstance(layer, nn.ReLU):
            names[f"relu{block}_{number}"] = f"features.{index}"
        elif isinstance(layer, nn.MaxPool2d):
            names[f"pool{block}"] = f"features.{index}"
            block, number = block + 1, 0
    if name not in names:
        near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.3) or list(names)[:3]
        raise ValueError(f"vgg_layer: name is {name!r}, which this VGG has not; nearest: {', '.join(near)}.")
    return names[name]


def embed(model: nn.Module, *inputs: Any, grad: bool = False) -> torch.Tensor:
    """Give what the model's head receives: the pooled feature of a ResNet, and the like of every other classifier.

    Cutting children off the end goes wrong where the forward pass does more than call them (DenseNet's ReLU and
    pooling, Inception, ViT); this looks at the real forward pass.

    Args:
        model: A classifier whose head `find_heads` can name.
        inputs: What it takes.
        grad: Record gradients.

    Returns:
        A tensor of shape (N, features).

    >>> embed(nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.ones(5, 1, 2, 2)).shape
    torch.Size([5, 3])
    """
    inner = unwrap(model)
    head = inner.get_submodule(find_heads(inner)[0])
    found: list[torch.Tensor] = []

    def catch(_module: nn.Module, args: tuple[torch.Tensor, ...]) -> None:
        found.append(args[0])
        raise _EnoughError

    with ExitStack() as stack:
        stack.callback(head.register_forward_pre_hook(catch).remove)
        stack.enter_context(_mode(inner, training=False))
        stack.enter_context(torch.set_grad_enabled(grad))
        try:
            inner(*inputs)
        except _EnoughError:
            return found[0].mean((2, 3)) if isinstance(head, nn.Conv2d) else found[0]
    raise RuntimeError(f"the head {find_heads(inner)[0]!r} did not run in this forward pass")


def find_heads(model: nn.Module) -> list[str]:
    """Name the layers that give the class scores, the main one first, then those of auxiliary classifiers.

    timm models say it themselves; in others it is the last linear layer, or the last convolution where there is none.

    Args:
        model: A torchvision or timm classifier, or one of the same make.

    Returns:
        Names for `get_submodule`.

    >>> find_heads(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)))
    ['2']
    """
    inner = unwrap(model)
    configuration = getattr(inner, "pretrained_cfg", None)
    if isinstance(configuration, dict) and configuration.get("classifier"):
        named = configuration["classifier"]
        return [_layer_below(inner, one) for one in ([named] if isinstance(named, str) else named)]
    linear = [name for name, module in inner.named_modules() if isinstance(module, nn.Linear)]
    if not linear:
        linear = [name for name, module in inner.named_modules() if isinstance(module, nn.Conv2d)]
    if not linear:
        raise ValueError(
            f"model is a {type(inner).__name__} without a linear or convolution layer that could be its head."
        )
    return [linear[-1], *_auxiliary(inner, linear)]


def _auxiliary(model: nn.Module, linear: list[str]) -> list[str]:
    """Inception's and GoogLeNet's extra classifiers: the last layer of each direct child named aux*."""
    names = [name for name, child in model.named_children() if name.lower().startswith("aux") and child is not None]
    return [[one for one in linear if one.startswith(name + ".")][-1] for name in names]


def _layer_below(model: nn.Module, name: str) -> str:
    module = model.get_submodule(name)
    if isinstance(module, nn.Linear | nn.Conv2d):
        return name
    inside = [one for one, child in module.named_modules() if isinstance(child, nn.Linear | nn.Conv2d)]
    if not inside:
        raise ValueError(f"the head {name!r} of {type(model).__name__} holds no linear layer")
    return f"{name}.{inside[-1]}"


def replace_head(model: nn.Module, classes: int) -> list[str]:
    """Put new last layers in, which fit what came before and give one score a class.

    Kind of layer, number of inputs, bias, dtype and device are those of the old layer.

    Args:
        model: A torchvision or timm classifier, or one of the same make; changed in place.
        classes: How many scores to give.

    Returns:
        The names of the new layers, for `finetune_groups` and `freeze`.

    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1000))
    >>> replace_head(net, 5), net[2]
    (['2'], Linear(in_features=3, out_features=5, bias=True))
    """
    _wants.whole("replace_head", 1, classes=classes)
    inner = unwrap(model)
    names = find_heads(inner)
    for name in names:
        path, _, leaf = name.rpartition(".")
        old = inner.get_submodule(name)
        new = _new_head(old, classes).train(old.training)
        setattr(inner.get_submodule(path), leaf, new)
    if isinstance(getattr(inner, "num_classes", None), int):  # timm and some of torchvision's read it
        inner.num_classes = classes  # type: ignore[assignment] # nn.Module declares every attribute a tensor
    return names


def _new_head(old: nn.Module, classes: int) -> nn.Module:
    if isinstance(old, nn.Linear):
        new: nn.Module = nn.Linear(old.in_features, classes, bias=old.bias is not None)
        return new.to(old.weight.device, old.weight.dtype)
    if isinstance(old, nn.Conv2d):
        kernel = cast("tuple[int, int]", old.kernel_size)
        new = nn.Conv2d(old.in_channels, classes, kernel, bias=old.bias is not None)
        return new.to(old.weight.device, old.weight.dtype)
    raise TypeError(f"a head of type {type(old).__name__} is not known; replace it by hand")


def _stay_in_eval(module: nn.Module, _args: object) -> None:
    module.training = False


def freeze(model: nn.Module, keep: str | Iterable[str] = ()) -> list[str]:
    """Stop a model from changing, but for the layers to keep, and keep frozen batch norms from drifting.

    Frozen parameters get no gradient, and one that is left over is dropped, because an optimizer would still decay
    it. Normalisation layers with running statistics go into evaluation mode at each call, also after
    `model.train()`. `unfreeze` takes all of it back.

    Args:
        model: Changed in place.
        keep: One or several names of modules or parameters that go on training, such as the new head.

    Returns:
        The names of the frozen parameters.

    >>> net = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1))
    >>> freeze(net, keep=["1"])
    ['0.weight', '0.bias']
    >>> _ = net.train()(torch.randn(4, 2)); net[0].running_mean
    tensor([0., 0.])
    """
    inner, kept = unwrap(model), _wants.names("freeze", keep=keep)
    known = {name for name, _ in inner.named_modules()} | {name for name, _ in inner.named_parameters()}
    for name in kept:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.3)
            raise ValueError(f"freeze: keep names {name!r}, which the model has not; nearest: {', '.join(near)}.")
    frozen = []
    for name, parameter in inner.named_parameters():
        if not _under(name, kept):
            parameter.requires_grad = False
            parameter.grad = None
            frozen.append(name)
    for name, module in inner.named_modules():
        if isinstance(module, _NormBase) and module.track_running_stats and not _under(name, kept):
            _unhook(module)
            module.register_forward_pre_hook(_stay_in_eval)
            module.eval()
    return frozen


def _under(name: str, kept: Sequence[str]) -> bool:
    return any(name == one or name.startswith(one + ".") for one in kept)


def unfreeze(model: nn.Module, layers: str | Iterable[str] = "") -> None:
    """Let frozen layers train again.

    Args:
        model: Changed in place.
        layers: One or several names of modules; by default all of the model.

    >>> net = nn.Linear(1, 1); _ = freeze(net); unfreeze(net); net.weight.requires_grad
    True
    """
    inner = unwrap(model)
    modules = dict(inner.named_modules(remove_duplicate=False))
    for name in _wants.names("unfreeze", layers=layers):
        if name not in modules:
            near = difflib.get_close_matches(name, modules, n=3, cutoff=0.3)
            raise ValueError(f"unfreeze: layers names {name!r}, which the model has not; nearest: {', '.join(near)}.")
        part = modules[name]
        part.requires_grad_()
        for module in part.modules():
            if _unhook(module):
                module.train(part.training)


def _unhook(module: nn.Module) -> bool:
    hooks: dict[int, Callable[..., Any]] = module._forward_pre_hooks  # noqa: SLF001 - torch has no public list of hooks
    ours = [key for key, hook in hooks.items() if hook is _stay_in_eval]
    for key in ours:
        del hooks[key]
    return bool(ours)
