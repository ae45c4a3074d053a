"""Sizes and receptive fields of convolutions and pools, without torch: arithmetic on one side of a picture.

A side is a number: use a function once for the height and once for the width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

__all__ = [
    "Layer",
    "Stage",
    "adaptive_bins",
    "chain",
    "conv_size",
    "conv_transpose_size",
    "layers_of",
    "parse_layer",
    "pool_size",
    "receptive_field",
    "same_padding",
    "sources",
]

Kind = Literal["conv", "pool", "transpose"]


def _check(function: str, **values: int) -> None:
    for name, value in values.items():
        _wants.whole(function, 0 if "padding" in name else 1, **{name: value})


def conv_size(size: int, kernel: int, stride: int = 1, padding: int = 0, dilation: int = 1) -> int:
    """The side after a convolution: floor((size + 2p - d(k - 1) - 1) / s) + 1.

    >>> conv_size(224, kernel=7, stride=2, padding=3)
    112
    """
    _check("conv_size", size=size, kernel=kernel, stride=stride, padding=padding, dilation=dilation)
    reach = dilation * (kernel - 1) + 1
    if reach > size + 2 * padding:
        raise ValueError(
            f"conv_size: kernel {kernel} with dilation {dilation} reaches over {reach} pixels, but the padded input has "
            f"{size + 2 * padding}; pad more, dilate less or use a smaller kernel."
        )
    return (size + 2 * padding - reach) // stride + 1


def pool_size(
    size: int, kernel: int, stride: int | None = None, padding: int = 0, dilation: int = 1, *, ceil_mode: bool = False
) -> int:
    """The side after a pool, whose stride is the kernel unless given; with `ceil_mode` a last window may hang over.

    >>> pool_size(112, kernel=3, stride=2, padding=1), pool_size(32, kernel=3)
    (56, 10)
    """
    step = kernel if stride is None else stride
    _check("pool_size", size=size, kernel=kernel, stride=step, padding=padding, dilation=dilation)
    if padding > kernel // 2:
        raise ValueError(f"pool_size: padding is {padding}; it must be at most half of the kernel {kernel}.")
    if not ceil_mode:
        return conv_size(size, kernel, step, padding, dilation)
    out = -(-(size + 2 * padding - dilation * (kernel - 1) - 1) // step) + 1
    out -= (out - 1) * step >= size + padding  # torch drops a window that starts in the right padding
    if out < 1:
        raise ValueError(f"pool_size: no window of {dilation * (kernel - 1) + 1} pixels fits an input of {size}.")
    return out


def conv_transpose_size(
    size: int, kernel: int, stride: int = 1, padding: int = 0, dilation: int = 1, *, output_padding: int = 0
) -> int:
    """The side after a transposed convolution: (size - 1)s - 2p + d(k - 1) + output_padding + 1.

    >>> conv_transpose_size(7, kernel=2, stride=2), conv_transpose_size(1, kernel=2, dilation=2)
    (14, 3)
    """
    _check("conv_transpose_size", size=size, kernel=kernel, stride=stride, dilation=dilation)
    _check("conv_transpose_size", padding=padding, output_padding=output_padding)
    if output_padding >= max(stride, dilation):
        raise ValueError(
            f"conv_transpose_size: output_padding is {output_padding}; it must be smaller than the stride {stride} or "
            f"the dilation {dilation}."
        )
    out = (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
    if out < 1:
        raise ValueError(f"conv_transpose_size: padding is {padding}, which leaves {out} pixels; it must be smaller.")
    return out


def same_padding(size: int, kernel: int, stride: int = 1, dilation: int = 1) -> tuple[int, int]:
    """Pixels to add before and after, so that the side becomes ceil(size / stride), for any stride.

    For stride 1 it is torch's `padding="same"`; for more it is TensorFlow's. Pass them to `F.pad`: conv layers pad
    both sides alike. For kernel 3 `padding=dilation` is the same only at stride 1.

    >>> same_padding(224, kernel=3, stride=2), same_padding(9, kernel=3, dilation=2)
    ((0, 1), (2, 2))
    """
    _check("same_padding", size=size, kernel=kernel, stride=stride, dilation=dilation)
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + dilation * (kernel - 1) + 1 - size)
    return total // 2, total - total // 2


def adaptive_bins(size: int, output: int) -> list[tuple[int, int]]:
    """The input ranges [start, end) that an adaptive pool gives each output; they may overlap and differ in length.

    >>> adaptive_bins(10, 4)
    [(0, 3), (2, 5), (5, 8), (7, 10)]
    """
    _check("adaptive_bins", size=size, output=output)
    return [(i * size // output, -(-(i + 1) * size // output)) for i in range(output)]


@dataclass(frozen=True)
class Layer:
    """One layer along one side. `stride` of a pool must be given: here it is never the kernel by itself."""

    kind: Kind = "conv"
    kernel: int = 1
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    output_padding: int = 0
    ceil_mode: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        _wants.one_of("Layer", "kind", self.kind, ("conv", "pool", "transpose"))
        _check("Layer", kernel=self.kernel, stride=self.stride, padding=self.padding, dilation=self.dilation)
        _check("Layer", output_padding=self.output_padding)

    def size(self, size: int) -> int:
        """The side after this layer.

        >>> Layer("conv", kernel=3, stride=2, padding=1).size(32)
        16
        """
        if self.kind == "transpose":
            return conv_transpose_size(
                size, self.kernel, self.stride, self.padding, self.dilation, output_padding=self.output_padding
            )
        if self.kind == "pool":
            return pool_size(size, self.kernel, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode)
        return conv_size(size, self.kernel, self.stride, self.padding, self.dilation)

    def taps(self, index: int, size: int) -> list[int]:
        """The inputs in [0, size) that feed output `index`; what falls on padding is left out.

        >>> Layer("conv", kernel=3, padding=1, dilation=2).taps(0, 9)
        [1, 3]
        """
        reach = [k * self.dilation for k in range(self.kernel)]
        if self.kind == "transpose":
            places = [index + self.padding - k for k in reach]
            found = [place // self.stride for place in places if place % self.stride == 0]
        else:
            found = [index * self.stride - self.padding + k for k in reach]
        return sorted({place for place in found if 0 <= place < size})


def parse_layer(text: str) -> Layer:
    """A layer from a short text: "conv k3 s2 p1 d1", "pool k2", "transpose k2 s2 op0"; a pool's stride is its kernel.

    >>> parse_layer("pool k3 s2 p1")
    Layer(kind='pool', kernel=3, stride=2, padding=1, dilation=1, output_padding=0, ceil_mode=False, name='')
    """
    kinds: dict[str, Kind] = {"conv": "conv", "pool": "pool", "transpose": "transpose"}
    keys = {"k": "kernel", "s": "stride", "p": "padding", "d": "dilation", "op": "output_padding"}
    _wants.kind("parse_layer", str, "a text such as 'conv k3 s2 p1'", text=text)
    word, *rest = text.split() or [""]
    values: dict[str, int] = {}
    ceil_mode = "ceil" in rest
    for part in rest:
        letter, number = part.rstrip("0123456789"), part[len(part.rstrip("0123456789")) :]
        if part != "ceil" and (letter not in keys or not number):
            raise ValueError(
                f"parse_layer: text is {text!r}, in which {part!r} is unknown; write k3 s2 p1 d1 op1 or ceil."
            )
        if part != "ceil":
            values[keys[letter]] = int(number)
    if word not in kinds or "kernel" not in values:
        raise ValueError(
            f"parse_layer: text is {text!r}; it must start with conv, pool or transpose and give a kernel such as k3."
        )
    if word == "pool":
        values.setdefault("stride", values["kernel"])
    return replace(Layer(kind=kinds[word], ceil_mode=ceil_mode), **values)  # type: ignore[arg-type]  # keys are ours, all int


class Stage(NamedTuple):
    """What is true after a layer: the side, the receptive field, the step between neighbours and the first centre.

    `field`, `jump` and `centre` are in pixels of the input; `centre` is where output 0 looks, and may be negative.
    """

    layer: Layer
    size: int
    field: int
    jump: float
    centre: float


def chain(size: int, layers: Sequence[Layer]) -> list[Stage]:
    """Side, receptive field, jump and centre after each layer of a chain.

    After a transposed convolution outputs differ: then the field is the widest that any output has in this input.

    >>> stages = chain(224, [Layer("conv", 7, 2, 3), Layer("pool", 3, 2, 1), Layer("conv", 3, 1, 1)])
    >>> [(stage.size, stage.field, stage.jump) for stage in stages]
    [(112, 7, 2), (56, 11, 4), (56, 19, 4)]
    """
    layers = _wants.several("chain", Layer, "a Layer", layers=layers)
    stages: list[Stage] = []
    side, field, jump, centre, even = size, 1, 1.0, 0.0, True
    for number, layer in enumerate(layers, 1):
        side = layer.size(side)
        reach = layer.dilation * (layer.kernel - 1)
        if layer.kind == "transpose":
            even = False
            jump /= layer.stride
            centre += (layer.padding - reach / 2) * jump
        else:
            field += reach * int(jump) if even else 0
            centre += (reach / 2 - layer.padding) * jump
            jump *= layer.stride
        field = field if even else _widest(size, layers[:number], side)
        stages.append(Stage(layer, side, field, _tidy(jump), _tidy(centre)))
    return stages


def _widest(size: int, layers: Sequence[Layer], outputs: int) -> int:
    spans = [sources(size, layers, index) for index in range(outputs)]
    return max((span[-1] - span[0] + 1 for span in spans if span), default=0)


def _tidy(value: float) -> float:
    return int(value) if value == int(value) else value


def receptive_field(layers: Sequence[Layer]) -> int:
    """How many input pixels along a side can reach one output of a chain of convolutions and pools, borders aside.

    >>> receptive_field([Layer("conv", 3), Layer("conv", 3), Layer("conv", 3)])
    7
    """
    field, jump = 1, 1
    for layer in _wants.several("receptive_field", Layer, "a Layer", layers=layers):
        if layer.kind == "transpose":
            raise ValueError(
                f"receptive_field: layers hold {layer}, whose outputs differ in their field; use sources()."
            )
        field += layer.dilation * (layer.kernel - 1) * jump
        jump *= layer.stride
    return field


def sources(size: int, layers: Sequence[Layer], index: int) -> list[int]:
    """The input pixels of a side of `size` that feed output `index` of the chain; exact, with borders and holes.

    >>> sources(9, [Layer("conv", 3, dilation=2), Layer("conv", 3, dilation=2)], 0)
    [0, 2, 4, 6, 8]
    """
    sizes = [size]
    for layer in _wants.several("sources", Layer, "a Layer", layers=layers):
        sizes.append(layer.size(sizes[-1]))
    _wants.whole("sources", index=index)
    if not 0 <= index < sizes[-1]:
        raise ValueError(f"sources: index is {index}; the output has {sizes[-1]} pixels, 0 to {sizes[-1] - 1}.")
    places = {index}
    for layer, below in zip(reversed(layers), reversed(sizes[:-1]), strict=True):
        places = {tap for place in places for tap in layer.taps(place, below)}
    return sorted(places)


def layers_of(model: nn.Module, side: int = -1) -> list[Layer]:
    """The convolutions and pools of a chain of modules (such as `nn.Sequential`), in order, along one side.

    `side` is -1 for the width and -2 for the height. A layer that stands in a branch is listed as if in the chain.

    >>> from torch import nn
    >>> [layer.kind for layer in layers_of(nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2)))]
    ['conv', 'pool']
    """
    from torch import nn

    _wants.kind("layers_of", nn.Module, "an nn.Module", model=model)
    _wants.number("layers_of", "-1 (width) or -2 (height)", (-1, -2).__contains__, side=side)
    found = []
    for name, module in model.named_modules(remove_duplicate=False):
        kind = _kind_of(type(module).__name__)
        if kind is not None:
            found.append(_layer_of(module, kind, name, side))
    return found


def _kind_of(class_name: str) -> Kind | None:
    plain = class_name.removeprefix("Lazy").rstrip("123").removesuffix("d") if class_name[-1:] == "d" else ""
    plain = plain.rstrip("123")
    kinds: dict[str, Kind] = {"Conv": "conv", "ConvTranspose": "transpose", "MaxPool": "pool", "AvgPool": "pool"}
    return kinds.get(plain)


def _layer_of(module: nn.Module, kind: Kind, name: str, side: int) -> Layer:
    def along(attribute: str, default: int) -> int:
        value = getattr(module, attribute, default)
        return int(value if isinstance(value, int) else value[max(side, -len(value))])

    kernel, dilation = along("kernel_size", 1), along("dilation", 1)
    padding = getattr(module, "padding", 0)
    if padding == "same" and dilation * (kernel - 1) % 2:
        raise ValueError(f"layers_of: {name!r} pads one side more than the other (an even kernel with padding='same').")
    if isinstance(padding, str):
        padding = dilation * (kernel - 1) // 2 if padding == "same" else 0
    else:
        padding = along("padding", 0)
    extra = along("output_padding", 0) if kind == "transpose" else 0
    ceil_mode = bool(getattr(module, "ceil_mode", False))
    return Layer(kind, kernel, along("stride", 1), padding, dilation, extra, ceil_mode, name)
