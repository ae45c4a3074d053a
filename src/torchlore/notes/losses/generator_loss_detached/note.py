"""A generator's loss on `D(fake.detach())` sends no gradient to the generator: it never learns.

`detach()` belongs into the discriminator's step, where the generator must not move. Copied into the generator's step it cuts
the only path by which the generator could learn. Its optimizer still steps; with momentum or weight decay the weights even
move. The discriminator wins at once, which looks like a hard GAN.

```python
d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)   # the generator is left alone
g_loss = bce(D(fake), ones)                                  # here the gradient must pass
```
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, losses, scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/nikhilsinghmus/image2reverb/issues/37",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_NAME = re.compile(r"^(?:loss_?)?(?:g|gen|generator)_?(?:adv_?)?(?:loss)?$|^err_?g$|^adv_?loss$", re.IGNORECASE)


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["generator_moved"] == 0
    assert good["generator_moved"] > 0


def find(source: Source) -> Iterator[Hit]:
    cut = [call for call in source.methods("detach") if _given_to_module(source, call)]
    for detach in cut:
        judged = source.parents[detach]
        if isinstance(judged, ast.Call) and isinstance(detach.func, ast.Attribute) and _for_generator(source, judged):
            fake = source.code(detach.func.value)
            edit = edits.replace(source, detach, fake)
            message = f"the generator's loss gets no gradient through `{source.code(detach)}`: pass `{fake}`"
            yield source.hit(judged, message, edit, safe=False)


def _given_to_module(source: Source, detach: ast.Call) -> bool:
    call = source.parents[detach]
    if not isinstance(call, ast.Call) or detach not in call.args or values.maybe(source, call.func, "loss"):
        return False
    return values.sure(source, call.func, "module", weak=True)


def _for_generator(source: Source, judged: ast.Call) -> bool:
    """The verdict on the fake is compared with ones, or ends in something called the generator's loss."""
    statement = tree.statement(source, judged)
    name = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(name, ast.Name) and _NAME.match(name.id) and name.id.lower() not in ("g", "gen"):
        return True
    direct = isinstance(statement, ast.Assign) and statement.value is judged
    for loss in losses.loss_calls(source):
        verdict = loss.input
        same = verdict is judged
        if isinstance(verdict, ast.Name) and direct:
            same = [one.value for one in scopes.reaching(source, verdict)] == [judged]
        if same and loss.target is not None and _ones(source, loss.target):
            return True
    return False


def _ones(source: Source, target: ast.expr) -> bool:
    made = values.made_by(source, target, "torch.ones_like", "torch.ones")
    return made is not None
