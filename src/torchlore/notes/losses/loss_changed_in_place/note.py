"""`loss += penalty` changes the tensor itself, and with it every other name it has.

A loss is a tensor, and `+=` on a tensor works in place. Whatever else refers to it (`data_loss = loss`, an entry in a list
or a dict of terms) now holds the sum: the curve of the data loss shows the penalty too. Plain addition makes a new tensor
and leaves the old one alone.

```python
loss = data_loss + 1e-4 * l1_penalty(model.parameters())
```

About that penalty: summed over all parameters it also shrinks biases and the scales of norms, which the recipe leaves out.
And its plain gradient step never reaches exact zeros; for a sparse model shrink after the step
(`torchlore.recipes.losses.shrink_`).
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

ROWS = ("loss-l1",)
SOURCES = ("003:464-471",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    from torchlore.recipes.losses import l1_penalty, shrink_

    assert bad["penalty"] == 0  # it looks as if there were none
    assert good["penalty"] > 1

    model = nn.Sequential(nn.Linear(50, 20), nn.BatchNorm1d(20))
    by_hand = torch.as_tensor(sum(p.abs().sum() for p in model.parameters()))
    assert l1_penalty(model.parameters()) < by_hand  # biases and the norm are left out
    assert torch.allclose(l1_penalty(model.parameters()), model[0].get_parameter("weight").abs().sum())

    weight = nn.Parameter(torch.randn(20, 50))
    for _ in range(50):
        weight.grad = None
        (0.01 * weight.abs().sum()).backward()
        torch.optim.SGD([weight], lr=1.0).step()
    assert (weight == 0).sum() == 0
    shrink_([weight], 0.01)
    assert (weight == 0).sum() > 0


def find(source: Source) -> Iterator[Hit]:
    changes = [one for one in source.all(ast.AugAssign) if isinstance(one.target, ast.Name)]
    named = uses.assigns(source, None, ast.Name) if changes else []
    called_twice = {one.value.id for one in named if isinstance(one.value, ast.Name)}
    for change in changes:
        target = change.target
        if not isinstance(target, ast.Name) or target.id not in called_twice:
            continue
        if not isinstance(change.op, ast.Add | ast.Sub | ast.Mult | ast.Div) or not _in_place(source, change):
            continue
        other = _other_name(source, change, target)
        if other and values.sure(source, _reading(source, change, target), "tensor"):
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(change.op)]
            value = source.code(change.value)
            simple = isinstance(change.value, ast.Name | ast.Call | ast.Attribute | ast.Constant)
            value = value if simple or isinstance(change.op, ast.Add) else f"({value})"
            edit = edits.replace(source, change, f"{target.id} = {target.id} {sign} {value}")
            message = f"`{sign}=` changes the tensor itself, and `{other}` with it: write `{edit.text}`"
            yield source.hit(change, message, edit)


def _in_place(source: Source, change: ast.AugAssign) -> bool:
    """`a += b`, and not `a = a + b`, which is read as the same where a number begins."""
    return source.code(change)[len(source.code(change.target)) :].lstrip()[:1] in "+-*/"


def _reading(source: Source, change: ast.AugAssign, target: ast.Name) -> ast.expr:
    """A use of the name before the change, whose value can be asked for."""
    read = [one for one in uses.names(source, target.id) if isinstance(one.ctx, ast.Load)]
    before = [one for one in read if one.lineno < change.lineno]
    return before[-1] if before else target


def _other_name(source: Source, change: ast.AugAssign, target: ast.Name) -> str:
    """What else the tensor is called before the change and read as after it; "" if nothing."""
    home, found, alias = tree.function(source, change), "", target
    for assign in sorted(source.all(ast.Assign), key=lambda one: one.lineno):
        name = assign.targets[0]
        if assign.lineno >= change.lineno or tree.function(source, assign) is not home:
            continue
        if isinstance(assign.value, ast.Name) and assign.value.id == target.id and isinstance(name, ast.Name):
            found, alias = name.id, name
        elif any(isinstance(one, ast.Name) and one.id in (target.id, found) for one in assign.targets):
            found = ""  # a new tensor from here on
    later = (one for one in uses.names(source, found) if one.lineno > change.lineno and isinstance(one.ctx, ast.Load))
    seen = any(bound.node is alias for one in later for bound in scopes.reaching(source, one))
    return found if seen else ""  # else it is bound anew first
