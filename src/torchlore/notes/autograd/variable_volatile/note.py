"""`volatile=True` does nothing any more: the graph is built and memory is spent.

Before torch 0.4 a tensor was wrapped in `Variable`, and `volatile=True` switched recording off. Today `Variable(x)`
returns the tensor itself, and `volatile` is ignored with a warning that few people read. Inference code copied from
those days keeps every activation and runs out of memory on inputs that would fit.

Drop `Variable` and say what is meant:

```python
with torch.no_grad():
    scores = model(images)
```
"""

import ast
from collections.abc import Iterator

from torchlore.check import calls, edits, follow, tensors, tree, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

ROWS = ("autograd-variable",)
SOURCES = ("001:12", "001:27", "002:34", "https://github.com/pytorch/pytorch/issues/4932")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    import torch
    from torch.autograd import Variable

    assert bad["recorded"]
    assert not good["recorded"]
    x = torch.ones(2)
    assert type(Variable(x)) is torch.Tensor
    assert Variable(x).data_ptr() == x.data_ptr()


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.autograd.Variable"):
        volatile = tree.keyword(call, "volatile")
        if volatile is not None and tree.literal(volatile.value) is not False:
            name = source.code(call.args[0]) if call.args else "x"
            message = f"`volatile` is ignored and `{name}`'s graph is recorded: run the model under `torch.no_grad()`"
            home = tree.function(source, call) or source.tree
            trains = any(follow.method(node) == "backward" for node in tree.body_nodes(home))
            sure = not trains and _given_away(source, call) and not _unrecorded(source, call)
            yield source.hit(call, message, severity=None if sure else "hint")
        elif len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred):
            code = source.code(call.args[0])
            edit = edits.replace(source, call, code)
            yield source.hit(
                call, f"`Variable` has done nothing since torch 0.4: write `{code}`", edit, severity="hint"
            )
    for assign in source.all(ast.Assign):
        target = assign.targets[0]
        if isinstance(target, ast.Attribute) and target.attr == "volatile" and tree.literal(assign.value) is True:
            yield source.hit(
                assign, f"`{source.code(target)} = True` has no effect: run the model under `torch.no_grad()`"
            )


def _given_away(source: Source, call: ast.Call) -> bool:
    """Whether a model may get it: it is an argument of a call, or a later call has its name among its arguments."""
    held = tree.statement(source, call)
    targets = held.targets if isinstance(held, ast.Assign) else []
    parts = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = {tree.dotted(one) for one in parts}
    home = tree.function(source, call) or source.tree
    others = (
        one
        for one in tree.body_nodes(home)
        if isinstance(one, ast.Call) and one is not call and not source.name(one.func).startswith("torch.")
    )
    inputs = (
        given for one in others for given in (one.args if values.maybe(source, one.func, "module") else one.args[:1])
    )
    return any(given is call or tree.dotted(given) in names - {""} for given in inputs)


def _unrecorded(source: Source, call: ast.Call) -> bool:
    """Whether it, or each call of its function, stands under `no_grad` already."""
    home = tree.function(source, call)
    if tensors.no_grad_around(source, call) or home is None:
        return home is not None
    callers = calls.callers(as_function(source, home))
    return bool(callers) and all(tensors.no_grad_around(where, one) for where, one, _ in callers)
