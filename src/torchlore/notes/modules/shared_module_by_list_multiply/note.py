"""`nn.ModuleList([layer] * 4)` holds one layer four times: one set of weights.

Multiplying a list repeats the reference, not the object. So do `[layer for _ in range(4)]`, and `decoder = encoder` before
both are put into a `ModuleList`. The network runs, has a quarter of the parameters that you think, and the "four" layers
can never learn different things. `sum(p.numel() for p in model.parameters())` shows it.

Make or copy one for each place:

```python
nn.ModuleList(nn.Linear(d, d) for _ in range(4))
nn.ModuleList(copy.deepcopy(layer) for _ in range(4))
decoder = copy.deepcopy(encoder)
```

A copy starts from the same values; layers made anew start from different ones, which is usually better. Layers without
parameters (activations, pooling) may be shared freely.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree, values
from torchlore.check.modules import parameterless
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/zalandoresearch/pytorch-vq-vae/issues/2",
           "https://github.com/yassouali/pytorch-segmentation/pull/159")  # fmt: skip
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_BOXES = ("torch.nn.ModuleList", "torch.nn.Sequential")


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    import copy

    from torch import nn

    assert bad["parameters"] < good["parameters"]
    assert bad["distinct_layers"] == 1
    assert good["distinct_layers"] == 4
    layer = nn.Linear(2, 2)
    assert len({id(one) for one in [layer for _ in range(3)]}) == 1
    assert len({id(one) for one in [copy.deepcopy(layer) for _ in range(3)]}) == 3


def find(source: Source) -> Iterator[Hit]:
    for node in source.all(ast.BinOp):
        box = node.left if isinstance(node.left, ast.List) else node.right
        if not isinstance(node.op, ast.Mult) or not isinstance(box, ast.List) or len(box.elts) != 1:
            continue
        one, count = box.elts[0], node.right if box is node.left else node.left
        if _learns(source, one):
            fixed = f"[{source.code(one)} for _ in range({source.code(count)})]"
            fix = [edits.replace(source, node, fixed)] if isinstance(one, ast.Call) else []
            message = (
                f"this is one `{source.code(one)}` several times, with one set of weights: make one for each place"
            )
            yield source.hit(node, message, *fix)
    for call in source.calls(*_BOXES):
        for given in call.args:
            many = given.value if isinstance(given, ast.Starred) else given
            if isinstance(many, ast.ListComp | ast.GeneratorExp) and isinstance(many.elt, ast.Name):
                own = {n.id for part in many.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)}
                if many.elt.id not in own and _learns(source, many.elt):
                    name = many.elt.id
                    yield source.hit(
                        many, f"every entry is the same `{name}`, one set of weights: `copy.deepcopy({name})`"
                    )
    yield from _same_list(source)


def _learns(source: Source, node: ast.expr) -> bool:
    found = values.values(source, node)
    return values.sure(source, node, "module") and not any(parameterless(one) for one in found)


def _same_list(source: Source) -> Iterator[Hit]:
    """`decoder = encoder`, where it is a list of layers that is put into a ModuleList."""
    boxed = {arg.id for call in source.calls(*_BOXES) for arg in ast.walk(call) if isinstance(arg, ast.Name)}
    for assign in source.all(ast.Assign):
        name, other = assign.targets[0], assign.value
        if not isinstance(name, ast.Name) or not isinstance(other, ast.Name) or not {name.id, other.id} <= boxed:
            continue
        if not values.sure(source, other, "list"):
            continue
        inside = [one for value in values.values(source, other) for group in value.items for one in group]
        layers = bool(inside) and all(one.kind in ("module", "sequential") and not parameterless(one) for one in inside)
        home = tree.function(source, assign)
        used = {
            arg.id
            for call in source.calls(*_BOXES)
            if tree.function(source, call) is home and call.lineno > assign.lineno
            for arg in ast.walk(call)
            if isinstance(arg, ast.Name)
        }
        if layers and {name.id, other.id} <= used:
            better = f"{name.id} = copy.deepcopy({other.id})"
            yield source.hit(assign, f"both lists hold the same layers, with one set of weights: write `{better}`")
