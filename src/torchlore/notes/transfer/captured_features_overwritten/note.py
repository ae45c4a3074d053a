"""A captured feature is overwritten by the next layer if that works in place.

Hooks, extractor classes and torchvision's `create_feature_extractor` all hand out the very tensor a layer returned. In
most of torchvision's networks a `ReLU(inplace=True)` follows and writes into it: ask for `bn1` and you get
`relu(bn1)`, without a word. The extractor class of the notes has more holes: a name that is not a direct child gives an
empty list and no error, the order you asked for is ignored, and a `.train()` of the whole undoes the `eval()` made in
`__init__`, so that batch norm drifts even under `no_grad`.

Clone what you keep (`kept[name] = output.detach().clone()`), or switch `inplace` off. Extract under `model.eval()` and
`torch.inference_mode()`: you need both. `torchlore.recipes.features` does it all, and raises for unknown names.
"""

import ast
from collections.abc import Iterator

from torchlore.check import scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ("transfer-extractor", "transfer-eval-nograd")
SOURCES = ("003:342-344", "003:346-378")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["lowest"] == 0.0  # what a ReLU leaves, not what batch norm gives
    assert good["lowest"] < -1.0
    assert good["error"] == 0.0

    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    x = torch.randn(8, 4)
    with torch.no_grad():
        assert not torch.equal(model(x), model(x))  # no_grad alone: dropout draws
    model.eval()
    assert model(x).requires_grad  # eval alone: the graph is still built


WORDS = ("register_forward_hook",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("register_forward_hook"):
        hook = tree.argument(call, 0, "hook")
        if hook is None or not _written_over(source, tree.receiver(call)):
            continue
        for function in _functions(source, hook):
            names = tree.parameters(function)
            for kept in _stored(function, names[2].arg) if len(names) == 3 else ():
                yield source.hit(
                    kept,
                    "the ReLU behind this layer works in place and overwrites what is kept here: write "
                    f"`{names[2].arg}.detach().clone()`",
                )


def _written_over(source: Source, layer: ast.expr) -> bool:
    """Whether an in-place activation follows: the next of a Sequential, or torchvision's ReLU behind a batch norm."""
    if isinstance(layer, ast.Attribute) and layer.attr in ("bn1", "bn2"):
        return any(one.name.startswith("torchvision.models.res") for one in source.values(layer.value))
    index = tree.literal(layer.slice) if isinstance(layer, ast.Subscript) else None
    if not isinstance(index, int) or not isinstance(layer, ast.Subscript):
        return False
    nets = [one for one in source.values(layer.value) if one.kind == "sequential" and 0 <= index + 1 < len(one.items)]
    behind = [one for net in nets for one in net.items[index + 1]]
    calls = [one.node for one in behind if one.node is not None and one.name.startswith("torch.nn.")]
    return bool(calls) and all(
        isinstance(one, ast.Call) and tree.literal(tree.argument(one, None, "inplace")) is True for one in calls
    )


def _functions(source: Source, hook: ast.expr) -> Iterator[ast.FunctionDef | ast.Lambda]:
    if isinstance(hook, ast.Lambda):
        yield hook
    name = hook.func if isinstance(hook, ast.Call) else hook
    for binding in scopes.reaching(source, name) if isinstance(name, ast.Name) else ():
        if isinstance(binding.node, ast.FunctionDef):
            yield binding.node
            yield from (
                one for one in binding.node.body if isinstance(one, ast.FunctionDef) and isinstance(hook, ast.Call)
            )


def _stored(function: ast.FunctionDef | ast.Lambda, output: str) -> Iterator[ast.AST]:
    """Where the output itself, or a view of it, is put away."""
    for node in tree.body_nodes(function):
        value: ast.AST | None = None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript | ast.Attribute):
            value = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            value = node.args[0] if node.args else None
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach":
            value = value.func.value
        if isinstance(value, ast.Name) and value.id == output:
            yield node
