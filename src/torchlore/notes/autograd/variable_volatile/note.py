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

from torchlore.check import edits, follow, tree
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
            once = isinstance(home, ast.FunctionDef) and home.name == "__init__"
            yield source.hit(call, message, severity="hint" if trains or once else None)
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
