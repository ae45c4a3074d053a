"""How many input pixels a layer can see: exact along every path of the graph, also around residual branches."""

from __future__ import annotations

from typing import NamedTuple

from torch import nn

from torchlore.recipes.profile import Graph
from torchlore.recipes.shapes import Layer, layers_of

ARITHMETIC = {"add", "iadd", "sub", "mul", "imul", "cat", "concat", "chunk", "getitem", "contiguous", "clone"}
ACTIVATIONS = {"relu", "relu6", "silu", "sigmoid", "gelu", "hardswish", "hardsigmoid", "leaky_relu", "tanh", "elu"}
SAME = ARITHMETIC | ACTIVATIONS | {"dropout", "batch_norm"}  # functions that look at one place only
SPATIAL = ("AdaptiveAvgPool", "AdaptiveMaxPool")


class Reach(NamedTuple):
    """Pixels seen along a side, and the step between neighbours; 0 pixels: every one of them."""

    field: int
    jump: int


def receptive_fields(model: nn.Module, graph: Graph) -> dict[str, int]:
    """Layer -> input pixels along the wider side that reach one output; a layer that cannot be followed is left out.

    A residual sum sees as much as its widest branch, a block as much as what is in it. 0 stands for the whole picture,
    behind a global pool.

    >>> import torch; from torchlore.recipes.profile import trace_graph
    >>> net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3))
    >>> receptive_fields(net, trace_graph(net, torch.ones(1, 3, 16, 16)))
    {'0': 3, '1': 3, '2': 4, '3': 8}
    """
    sides = [{layer.name: layer for layer in _sided(model, side)} for side in (-1, -2)]
    found: dict[str, int] = {}
    for layers in sides:
        for name, reach in _follow(model, graph, layers).items():
            found[name] = 0 if reach.field == 0 or found.get(name) == 0 else max(found.get(name, 0), reach.field)
    return found | _blocks(model, graph, found)


def _blocks(model: nn.Module, graph: Graph, found: dict[str, int]) -> dict[str, int]:
    """The same for modules that hold others, where every layer that ran inside is known."""
    ran = [node.detail.split(", ")[0] for node in graph.nodes if node.kind == "layer"]
    blocks = {}
    for name, module in model.named_modules():
        inside = [one for one in ran if one.startswith(f"{name}.")] if name and any(module.children()) else []
        seen = [found[one] for one in inside if one in found]
        if inside and len(seen) == len(inside):
            blocks[name] = 0 if 0 in seen else max(seen)
    return blocks


def _sided(model: nn.Module, side: int) -> list[Layer]:
    try:
        return layers_of(model, side)
    except ValueError:  # uneven padding: this model has no field that is the same everywhere
        return []


def _follow(model: nn.Module, graph: Graph, layers: dict[str, Layer]) -> dict[str, Reach]:
    kinds = dict(model.named_modules(remove_duplicate=False))
    above: dict[int, list[int]] = {}
    for source, target in graph.edges:
        above.setdefault(target, []).append(source)
    known: dict[int, Reach | None] = {}
    named: dict[str, Reach] = {}
    for number, node in enumerate(graph.nodes):
        name = node.detail.split(", ")[0] if node.kind == "layer" else ""
        start = _joined([known[one] for one in above.get(number, [])]) if node.kind != "input" else Reach(1, 1)
        known[number] = (
            None if start is None else _after(start, node.label, node.kind, kinds.get(name), layers.get(name))
        )
        reach = known[number]
        if name and reach is not None:
            named[name] = max(named.get(name, reach), reach) if reach.field else reach
    return named


def _joined(parts: list[Reach | None]) -> Reach | None:
    """What a node sees that takes from several others; unknown where their steps differ."""
    seen = [one for one in parts if one is not None]
    if any(one.field == 0 for one in seen):
        return Reach(0, 0)
    alike = len(seen) == len(parts) and len({one.jump for one in seen}) == 1
    return max(seen) if alike else None


def _after(start: Reach, label: str, kind: str, module: nn.Module | None, layer: Layer | None) -> Reach | None:
    if start.field == 0 or kind in ("input", "output") or (kind == "function" and label in SAME):
        return start
    if layer is not None:
        field = start.field + layer.dilation * (layer.kernel - 1) * start.jump
        return None if layer.kind == "transpose" else Reach(field, start.jump * layer.stride)
    if label.startswith(SPATIAL):
        sizes = getattr(module, "output_size", None)
        return Reach(0, 0) if sizes in (1, (1, 1)) else None
    pointwise = type(module).__module__.rpartition(".")[2] in ("activation", "batchnorm", "dropout")
    return start if pointwise or label in ("Identity", "StochasticDepth", "DropPath", "FrozenBatchNorm2d") else None
