"""`torch.set_grad_enabled(False)` as a statement stays off for all the code that follows.

Called as a function it changes the mode of the whole thread, and nothing turns it back at the end of the function that
said it. The next training step builds no graph. With luck `backward()` raises; behind an `if loss.requires_grad:` or in
a loop that skips bad batches nothing is said, and the weights stay as they are.

Use it only in a `with` or as a decorator, which restore the old mode also when an exception passes:

```python
with torch.set_grad_enabled(phase == "train"):
    scores = model(images)

@torch.no_grad()
def evaluate(model, loader): ...
```
"""

from collections.abc import Iterator

from torchlore.check import calls, flow, follow, tree
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

ROWS = ("autograd-set-grad-enabled",)
SOURCES = ("004:6", "004:14-28")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    assert bad["last_loss"] == bad["second_loss"]  # nothing learned after the first evaluation
    assert good["last_loss"] < good["second_loss"]

    x = torch.zeros(1, requires_grad=True)
    seen = []
    with torch.no_grad():
        seen.append((x * 2).requires_grad)
    with torch.set_grad_enabled(False):
        seen.append((x * 2).requires_grad)
    torch.set_grad_enabled(True)
    seen.append((x * 2).requires_grad)
    torch.set_grad_enabled(False)
    seen.append((x * 2).requires_grad)
    assert seen == [False, False, True, False]
    assert not torch.is_grad_enabled()  # and so it stays
    torch.set_grad_enabled(True)


WORDS = ("set_grad_enabled|enable_grad", "backward")


def find(source: Source) -> Iterator[Hit]:
    switches = list(source.calls("torch.set_grad_enabled", "torch.enable_grad"))
    if not switches or not any(source.methods("backward")):
        return
    for call in switches:
        if not tree.is_statement(source, call) or not call.args or tree.literal(call.args[0]) is not False:
            continue
        home = tree.function(source, call)
        others = [one for one in switches if one is not call and tree.function(source, one) is home]
        later = any(one.lineno > call.lineno for one in others)
        brought_back = any(tree.is_statement(source, one) for one in others)  # off, on for a while, and off again
        if not later and not brought_back:
            where = f"after `{home.name}`" if home else "for the rest of the program"
            told = f"gradients stay off {where}: write `with torch.set_grad_enabled(False):`"
            on = any(
                tree.is_statement(source, one) and tree.literal(one.args[0]) is True for one in switches if one.args
            )
            within = any(source.name(one.func) == "torch.enable_grad" and not tree.is_statement(source, one) for one in switches)  # fmt: skip
            own = home is None and "def backward(" in source.text  # a framework of one's own wants no other gradients
            ends = home is not None and any("command" in source.code(one) for one in home.decorator_list)
            quiet = on or own or ends or (within and home is None) or _last(source, home)
            yield source.hit(call, told, severity="hint" if quiet else None)  # whoever trains switches them on first


def _last(source: Source, home: tree.FunctionNode | None) -> bool:
    """Whether the project calls the function, and nowhere before a backward pass."""
    found = calls.callers(as_function(source, home)) if home is not None else []
    for caller, call, _ in found:
        up = tree.function(caller, call)
        passes = [one.at for one in flow.events_of(caller, up) if one.what == "backward"]
        after = [one for one in passes if getattr(one, "lineno", 0) > call.lineno]
        if tree.loops(caller, call) or up is not None or not all(follow.exclusive(caller, one, call) for one in after):
            return False
    return bool(found)
