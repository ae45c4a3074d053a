"""A picture of the network shows either what backward will walk or what the program computes.

`torchviz` draws the first: the chain of `grad_fn` objects that hangs on an output. It therefore shows backward nodes
and no module names, shows nothing under `no_grad`, and needs the Graphviz program to draw. It still works, but nobody
looks after it any more. TensorBoard's `add_graph` draws the second by `torch.jit.trace`, which is deprecated.

Ask for the program as data: `torch.export.export(model, (example,))` prints every operation with its shapes, and
Netron opens what it saves. For "what shape comes out of which layer" a table is more use than a picture: print
`dict(model.named_modules())`, or hang a forward hook on each leaf.
"""

ROWS = ("vis-pytorchviz",)
SOURCES = ("003:491-492",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    from typing import Any

    import torch
    from torch import nn

    from torchlore.recipes import profile

    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1)).to(device)
    x = torch.rand(2, 4, device=device)

    def chain(node: Any) -> list[str]:
        if node is None:
            return []
        return [node.name(), *(name for parent, _ in node.next_functions for name in chain(parent))]

    drawn = chain(model(x).grad_fn)  # what torchviz would draw
    assert drawn[0] == "AddmmBackward0"
    assert "ReluBackward0" in drawn
    assert not any("Linear" in name or "Sequential" in name for name in drawn)  # no modules in it
    with torch.no_grad():
        assert chain(model(x).grad_fn) == []

    shapes: dict[str, tuple[int, ...]] = {}
    for name, leaf in model.named_modules():
        if not list(leaf.children()):
            leaf.register_forward_hook(lambda _m, _i, out, name=name: shapes.update({name: tuple(out.shape)}))
    model(x)
    assert shapes == {"0": (2, 3), "1": (2, 3), "2": (2, 1)}
    assert "Linear" in profile.graph_svg(profile.trace_graph(model, x))  # the modules, with their shapes
