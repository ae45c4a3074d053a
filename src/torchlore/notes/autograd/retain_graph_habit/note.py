"""`backward(retain_graph=True)` in a plain loop hides a graph that grows with every step.

The flag keeps what the graph has saved, for a second backward pass through the same graph. A loop with one backward per step
has no second pass. If it raises without the flag, something is carried from one step to the next with its history: a hidden
state, a running average, a loss from before. With the flag the error is gone, and each step goes back through all steps
before it: slower and larger each time.

Cut what is carried, and drop the flag:

```python
hidden = hidden.detach()
loss.backward()
```

Two losses that share a graph are added first: `(loss_a + loss_b).backward()`.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, frameworks, scopes, tree, values
from torchlore.check.flow import LoopFlow
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/GBLin5566/toward-controlled-generation-of-text-pytorch/issues/9",
           "https://github.com/isds-neu/PeRCNN/issues/3")  # fmt: skip
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[int]], good: dict[str, list[int]]) -> None:
    assert bad["nodes"][-1] > 5 * bad["nodes"][0]
    assert good["nodes"][-1] <= good["nodes"][0] + 2


WORDS = ("retain_graph", "backward")


def find(source: Source) -> Iterator[Hit]:
    plain = (call for call in source.methods("backward") if not tree.keyword(call, "create_graph"))
    asked = [call for call in plain if tree.literal(tree.argument(call, None, "retain_graph")) is True]
    if not asked or any(source.calls("torch.autograd.grad", "torch.autograd.backward")) or any(source.methods("adapt")):
        return  # an adapted net carries a graph that every turn may go through
    for loop in flow.training_loops(source):
        passes = loop.of("backward")
        if len(passes) != 1 or frameworks.owned(source, loop.node) or len(list(source.methods("backward"))) != 1:
            continue
        if (not loop.of("forward") and _parts(loop.node)) or _walks_again(source, loop, passes[0].expr):
            continue
        if _one_of_several(loop.node, passes[0].expr) or _made_before(source, loop.node, passes[0].expr):
            continue
        if re.search(r"\bneed|\bkeep|several|multiple", follow.comment(source, passes[0].node)):
            continue  # its author knows why
        if passes[0].node in asked and passes[0].loops and passes[0].loops[-1] is loop.node:
            message = "one backward a step needs no `retain_graph`: detach what is carried over and drop the flag"
            yield source.hit(passes[0].node, message)


def _one_of_several(loop: tree.Loop, loss: ast.expr | None) -> bool:
    """`for opt, loss in zip(optimizers, losses)`: they may share a graph that was made before the loop."""
    targets = ast.walk(loop.target) if isinstance(loop, ast.For) else ()
    return isinstance(loss, ast.Name) and any(isinstance(one, ast.Name) and one.id == loss.id for one in targets)


def _parts(loop: tree.Loop) -> bool:
    """`for part in output.chunk(4)`, `for a, b in zip(parts, targets)`: the graph was made before the loop."""
    over = loop.iter if isinstance(loop, ast.For) else None
    name = tree.dotted(over.func).rpartition(".")[2] if isinstance(over, ast.Call) else ""
    return name in ("zip", "chunk", "split", "unbind")


def _walks_again(source: Source, loop: LoopFlow, loss: ast.expr | None) -> bool:
    """`out = net(x)` before the loop, `loss = criterion(out, y)` in it: each turn goes through the graph of that one pass."""
    made = follow.followed(source, loss) if loss is not None else None
    if not isinstance(made, ast.Call) or any(one.at is not made for one in loop.of("forward")):
        return False
    for one in (arg for arg in made.args if isinstance(arg, ast.Name)):
        outside = [b.value for b in scopes.reaching(source, one) if not tree.inside(source, b.statement, loop.node)]
        ran = [b for b in outside if isinstance(b, ast.Call) and values.maybe(source, b.func, "module", weak=True)]
        if ran:
            return True
    return False


def _made_before(source: Source, loop: tree.Loop, loss: ast.expr | None) -> bool:
    """`output[i].backward()`, `s = output[i].sum()`, for each `i`: all go through the graph that was made before the loop."""
    for _ in range(4):
        while isinstance(loss, ast.Subscript | ast.Attribute):
            loss = loss.value
        bound = scopes.reaching(source, loss) if isinstance(loss, ast.Name) else []
        if not bound or not any(tree.inside(source, one.statement, loop) for one in bound):
            return bool(bound)
        made = bound[0].value
        torch_call = isinstance(made, ast.Call) and source.name(made.func) in ("torch.sum", "torch.max", "torch.mean")
        loss = made.args[0] if isinstance(made, ast.Call) and torch_call and made.args else made
    return False
