"""How the layers of a model connect, as data, DOT and SVG. Users import it from `profile`."""

from __future__ import annotations

import html
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from torchlore.recipes import _wants
from torchlore.recipes.device import unwrap

CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
WIDTH, HEIGHT, GAP_X, GAP_Y = 168, 38, 48, 30


@dataclass(frozen=True)
class GraphNode:
    """A layer, a function called between layers, an input or an output."""

    label: str
    detail: str  # a layer's name, or the shape of what the node gives
    kind: str  # input, layer, function, output


@dataclass
class Graph:
    """Nodes in the order in which they ran, and pairs of their numbers."""

    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)


class _Tracer(TorchFunctionMode):
    """Sees every torch function that is called outside of the layers shown as one node."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()
        self.makers: dict[int, int] = {}
        self.alive: list[torch.Tensor] = []  # so that no id is used twice
        self.inside = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.inside:
            return func(*args, **(kwargs or {}))
        sources = self.sources((args, kwargs))
        self.inside += 1
        try:
            result = func(*args, **(kwargs or {}))
        finally:
            self.inside -= 1
        if sources and self.tensors(result):
            name = getattr(func, "__name__", str(func))
            name = func.__self__.__name__ if name == "__get__" else name  # a property such as .T
            self.add(GraphNode(name.strip("_"), "", "function"), sources, result)
        return result

    def tensors(self, value: Any) -> list[torch.Tensor]:
        return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]

    def sources(self, value: Any) -> list[int]:
        found = (self.makers.get(id(tensor), -1) for tensor in self.tensors(value))
        return sorted({number for number in found if number >= 0})

    def add(self, node: GraphNode, sources: list[int], result: Any) -> None:
        made = self.tensors(result)
        shape = "x".join(map(str, made[0].shape)) if made else ""
        detail = ", ".join(part for part in (node.detail, shape) if part)
        self.graph.nodes.append(GraphNode(node.label, detail, node.kind))
        number = len(self.graph.nodes) - 1
        self.graph.edges += [(source, number) for source in sources]
        for tensor in made:
            self.makers[id(tensor)] = number
            self.alive.append(tensor)


def _is_block(name: str, module: nn.Module, depth: int | None) -> bool:
    if isinstance(module, CONTAINERS) and depth is None:
        return False
    low = next(module.children(), None) is None or type(module).__module__.startswith("torch.nn.modules")
    return (low and not isinstance(module, CONTAINERS)) or (depth is not None and name.count(".") + 1 >= depth)


def trace_graph(model: nn.Module, *inputs: Any, depth: int | None = None, **options: Any) -> Graph:
    """Run a model once and record how its layers, and the functions called between them, connect.

    Works for any model that runs: nothing is compiled or traced symbolically, so the picture is the path that these
    inputs took.

    Args:
        model: Any module; it runs without gradients and in evaluation mode, and is put back.
        inputs: What it takes.
        depth: Show modules this deep as one node each: 1 is the model's own children. By default every layer.
        options: Keyword arguments of the model.

    Returns:
        The graph.

    >>> graph = trace_graph(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), torch.ones(1, 2))
    >>> [node.label for node in graph.nodes], graph.edges
    (['input', 'Linear', 'ReLU', 'output'], [(0, 1), (1, 2), (2, 3)])
    """
    if depth is not None:
        _wants.whole("trace_graph", 1, depth=depth)
    inner, tracer = unwrap(model), _Tracer()
    modes = {module: module.training for module in inner.modules()}
    try:
        inner.eval()
        with torch.no_grad(), ExitStack() as stack:
            for name, module in inner.named_modules():
                if name and _is_block(name, module, depth):
                    _hook(stack, tracer, name, module)
            for leaf in tracer.tensors((inputs, options)):
                tracer.add(GraphNode("input", "", "input"), [], leaf)
            with tracer:
                output = inner(*inputs, **options)
    finally:
        for module, flag in modes.items():
            module.training = flag
    tracer.add(GraphNode("output", "", "output"), tracer.sources(output), output)
    return tracer.graph


def _hook(stack: ExitStack, tracer: _Tracer, name: str, module: nn.Module) -> None:
    waiting: list[list[int]] = []

    def enter(_module: nn.Module, args: Any, kwargs: Any) -> None:
        waiting.append(tracer.sources((args, kwargs)))
        tracer.inside += 1

    def leave(owner: nn.Module, _args: Any, output: Any) -> None:
        tracer.inside -= 1
        sources = waiting.pop()
        if not tracer.inside:
            tracer.add(GraphNode(type(owner).__name__, name, "layer"), sources, output)

    stack.callback(module.register_forward_pre_hook(enter, with_kwargs=True).remove)
    stack.callback(module.register_forward_hook(leave).remove)


def graph_dot(graph: Graph) -> str:
    r"""Write a graph in the DOT language, for Graphviz.

    >>> print(graph_dot(Graph([GraphNode("input", "1x2", "input")])))
    digraph model {
      node [shape=box, style=rounded, fontname="sans-serif"];
      n0 [label="input\n1x2"];
    }
    """
    _wants.kind("graph_dot", Graph, "what trace_graph() gave", graph=graph)
    lines = ["digraph model {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    for number, node in enumerate(graph.nodes):
        text = "\\n".join(_quote(part) for part in (node.label, node.detail) if part)
        lines.append(f'  n{number} [label="{text}"];')
    lines += [f"  n{source} -> n{target};" for source, target in graph.edges]
    return "\n".join([*lines, "}"])


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _ranks(graph: Graph) -> list[int]:
    """The row of each node: one below the lowest of those it takes from."""
    ranks = [0] * len(graph.nodes)
    for source, target in sorted(graph.edges, key=lambda edge: edge[1]):  # nodes are numbered as they ran
        ranks[target] = max(ranks[target], ranks[source] + 1)
    return ranks


def _columns(graph: Graph, ranks: list[int]) -> list[float]:
    """Where each node stands in its row: below the middle of what it takes from, moved apart where two meet."""
    sources: dict[int, list[int]] = {}
    for source, target in graph.edges:
        sources.setdefault(target, []).append(source)
    places = [0.0] * len(graph.nodes)
    for rank in range(max(ranks, default=-1) + 1):
        row = [number for number, one in enumerate(ranks) if one == rank]
        for number in row:
            above = [places[one] for one in sources.get(number, [])]
            places[number] = sum(above) / len(above) if above else 0.0
        row.sort(key=lambda number: places[number])
        middle = sum(places[number] for number in row) / len(row)
        for index, number in enumerate(row):
            places[number] = middle + index - (len(row) - 1) / 2
    return places


def graph_svg(graph: Graph) -> str:
    """Draw a graph as one inline SVG, from top to bottom, readable on light and dark pages.

    >>> graph_svg(trace_graph(nn.Sequential(nn.Linear(2, 2)), torch.ones(1, 2))).count("<rect")
    3
    """
    _wants.kind("graph_svg", Graph, "what trace_graph() gave", graph=graph)
    ranks = _ranks(graph)
    places = _columns(graph, ranks)
    left = min(places, default=0.0)
    xs = [GAP_X + (place - left) * (WIDTH + GAP_X) for place in places]
    ys = [float(GAP_Y) + rank * (HEIGHT + GAP_Y) for rank in ranks]
    wide, high = max(xs, default=0) + WIDTH + GAP_X, max(ys, default=0) + HEIGHT + GAP_Y
    parts = [_edge(graph, source, target, xs, ys) for source, target in graph.edges]
    parts += [_box(node, xs[number], ys[number]) for number, node in enumerate(graph.nodes)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" role="img" '
        'font-family="sans-serif" font-size="11"><title>Graph of the model</title><defs><marker id="arrow" '
        'viewBox="0 0 6 6" refX="6" refY="3" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L6 3L0 6z" '
        f'fill="#888"/></marker></defs>{"".join(parts)}</svg>'
    )


def _box(node: GraphNode, x: float, y: float) -> str:
    colour = {"layer": "#3b7dd8", "function": "#3ba26b", "input": "#888", "output": "#888"}[node.kind]
    detail = node.detail if len(node.detail) <= 27 else "…" + node.detail[-26:]
    text = f'<text x="{x + WIDTH / 2:.0f}" y="{y + 15:.0f}" text-anchor="middle" fill="{colour}" font-weight="bold">'
    more = f'<text x="{x + WIDTH / 2:.0f}" y="{y + 29:.0f}" text-anchor="middle" fill="#888">'
    return (
        f'<g><title>{html.escape(f"{node.label} {node.detail}")}</title><rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" '
        f'height="{HEIGHT}" rx="6" fill="{colour}" fill-opacity=".08" stroke="{colour}"/>'
        f"{text}{html.escape(node.label)}</text>{more}{html.escape(detail)}</text></g>"
    )


def _edge(graph: Graph, source: int, target: int, xs: list[float], ys: list[float]) -> str:
    """A drop to the next row; past other boxes a bow on their right, from side to side."""
    x1, y1, x2, y2 = xs[source] + WIDTH / 2, ys[source] + HEIGHT, xs[target] + WIDTH / 2, ys[target]
    if any(y1 < ys[one] < y2 and abs(xs[one] + WIDTH / 2 - x1) < WIDTH for one in range(len(graph.nodes))):
        x1, y1, x2, y2 = xs[source] + WIDTH, ys[source] + HEIGHT / 2, xs[target] + WIDTH, ys[target] + HEIGHT / 2
        lane = max(x1, x2) + GAP_X / 2
        curve = f"C{lane:.0f} {y1:.0f} {lane:.0f} {y1 + 30:.0f} {lane:.0f} {y1 + 60:.0f}L{lane:.0f} {y2 - 60:.0f}"
        curve += f"C{lane:.0f} {y2 - 30:.0f} {lane:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    else:
        bend = (y2 - y1) / 2
        curve = f"C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"
    return f'<path d="M{x1:.0f} {y1:.0f}{curve}" fill="none" stroke="#888" marker-end="url(#arrow)"/>'
