"""`torch.rand(n, requires_grad=True) * 0.1` is a result, not a leaf: it never gets a gradient.

Only leaves collect a gradient in `.grad`: tensors you made, not ones that an operation made from them. Scaling, `.to()`,
`.cuda()` or `.double()` after `requires_grad=True` gives a result whose `.grad` stays `None`; an optimizer refuses it. A
`.to(device)` is the meanest form: on the CPU it returns the same tensor and all works, on the GPU it is a copy and
nothing is learned.

Finish the tensor first, then ask for its gradient:

```python
w = (torch.rand(n) * 0.1).to(device).requires_grad_()
delta = torch.zeros(shape, device=device, requires_grad=True)
```

`grad_fn` tells the two apart only if gradients are on: a result of tensors that need no gradient has `grad_fn` None and
counts as a leaf. A network's output requires a gradient because its parameters do, not because of the input.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_SAME = {"requires_grad_", "retain_grad", "detach_", "backward", "register_hook"}

ROWS = ("autograd-leaf",)
SOURCES = ("001:76",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["success"] < 0.1
    assert good["success"] > 0.5

    plain = torch.ones(2) * 3
    assert plain.is_leaf
    assert plain.grad_fn is None
    made = torch.ones(2, requires_grad=True) * 3
    assert not made.is_leaf
    assert torch.ones(2, requires_grad=True).to("cpu").is_leaf  # same device: the same tensor
    try:
        torch.optim.SGD([made], lr=0.1)
    except ValueError:
        pass
    else:
        raise AssertionError("the optimizer took a result")
    layer = nn.Linear(2, 1)
    assert layer(plain).requires_grad
    assert not layer.requires_grad_(False)(plain).requires_grad


def find(source: Source) -> Iterator[Hit]:
    for assign in source.all(ast.Assign) if "requires_grad" in source.text else ():
        name = assign.targets[0]
        leaf = _leaf(source, assign.value)
        if leaf is None or leaf is assign.value or not isinstance(name, ast.Name) or not _wanted(source, name):
            continue
        given = tree.argument(leaf, None, "requires_grad")
        fix = [*edits.method(source, assign.value, "requires_grad_()")]
        if given is not None:
            fix.insert(0, edits.remove_argument(source, leaf, given))
        message = (
            f"`{name.id}` is a result and gets no `.grad`: leave `requires_grad` out and end in `.requires_grad_()`"
        )
        yield source.hit(assign, message, *fix)


def _leaf(source: Source, node: ast.expr) -> ast.Call | None:
    """The call with `requires_grad=True` that the expression works on."""
    if isinstance(node, ast.BinOp):
        return _leaf(source, node.left) or _leaf(source, node.right)
    if not isinstance(node, ast.Call):
        return None
    asked = tree.literal(tree.argument(node, None, "requires_grad")) is True
    if asked and source.name(node.func).startswith("torch."):
        return node
    changes = isinstance(node.func, ast.Attribute) and node.func.attr not in _SAME and not source.name(node.func)
    return _leaf(source, tree.receiver(node)) if changes else None


def _wanted(source: Source, name: ast.Name) -> bool:
    """Whether somebody reads its gradient or hands it to an optimizer, and nobody retains it."""
    names: set[str] = set()
    for use in uses.names(source, name.id):
        if use is name or all(one.node is not name for one in scopes.reaching(source, use)):
            continue
        up = source.parents[use]
        call = source.parents[up]
        if isinstance(up, ast.Attribute):
            names.add(up.attr)
        elif isinstance(up, ast.List) and isinstance(call, ast.Call) and values.sure(source, call, "optimizer"):
            names.add("grad")
    return "grad" in names and not names & {"retain_grad", "register_hook"}
