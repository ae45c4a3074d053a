"""ReduceLROnPlateau waits for a smaller number unless told otherwise; accuracy grows.

The default is `mode="min"`. Stepped with an accuracy that rises, every epoch counts as bad, and the rate falls and falls
while the model improves. `step()` without the number is a TypeError, and a NaN counts as bad. With `patience=5` the
rate falls after the sixth epoch in a row without a new best.

```python
scheduler = ReduceLROnPlateau(optimizer, mode="max", patience=5)
...
scheduler.step(val_acc)
```

`torchlore.recipes.schedules.Plateau` does the same, has no default for its mode, and takes a NaN for an error.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("schedule-plateau",)
SOURCES = ("003:530-537",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    from torchlore.recipes.schedules import Plateau

    assert bad["lr"] < 0.01  # it fell while accuracy rose
    assert good["lr"] == 1.0

    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=5)
    rates = []
    for _ in range(8):
        scheduler.step(0.5)
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates == [1.0] * 6 + [0.1] * 2
    plateau = Plateau("max", patience=5)
    assert [plateau.update(0.5) for _ in range(8)] == rates
    try:
        scheduler.step()  # type: ignore[call-arg]  # the mistake
    except TypeError:
        pass
    else:
        raise AssertionError("a plateau was found without a number")


_PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau"
_GROWS = re.compile(
    r"(^|_)(acc|accs|accuracy|f1|auc|auroc|iou|miou|dice|map|mAP|psnr|ssim|recall|precision|bleu|kappa|r2)(_|\d|$)"
)
_FALLS = re.compile(r"(^|_)(loss|losses|error|err|mse|mae|rmse|wer|perplexity|ppl)(_|$)")


def find(source: Source) -> Iterator[Hit]:
    seen: set[ast.AST] = set()
    for call in source.methods("step"):
        scheduler = tree.receiver(call)
        made = values.made_by(source, scheduler, _PLATEAU)
        asked = any("isinstance" in source.code(test) for test, _ in tree.conditions(source, call))
        if made is None or made.node is None or asked:
            continue
        code, given = source.code(scheduler), tree.argument(call, 0, "metrics")
        if tree.lacks(call, 0, "metrics"):
            yield source.hit(call, f"ReduceLROnPlateau needs the number it watches: write `{code}.step(val_loss)`")
            continue
        if isinstance(given, ast.Name) and any(isinstance(one, ast.For) and tree.dotted(one.target) == given.id and
                                               "range" in source.code(one.iter) for one in tree.loops(source, call)):  # fmt: skip
            yield source.hit(
                call, f"ReduceLROnPlateau takes `{given.id}` for what it watches: write `{code}.step(val_loss)`"
            )
            continue
        word = tree.dotted(given).rpartition(".")[2] if given is not None else ""
        mode = tree.literal(tree.argument(made.node, 1, "mode")) if not tree.lacks(made.node, 1, "mode") else "min"  # type: ignore[arg-type]  # what made it is a call
        wrong = "max" if mode == "min" and _GROWS.search(word) and not _FALLS.search(word) else ""
        wrong = "min" if mode == "max" and _FALLS.search(word) and not _GROWS.search(word) else wrong
        if wrong:
            what = "grows as the model gets better" if wrong == "max" else "falls as the model gets better"
            told = f'`{word}` {what}, but `{code}` waits for the other direction: build it with mode="{wrong}"'
            built = made.node if isinstance(made.node, ast.Call) and made.source is source else None
            if made.node not in seen:
                seen.add(made.node)
                plain = built is not None and not tree.spread(built) and len(built.args) < 2
                fix = [edits.set_keyword(source, built, "mode", f'"{wrong}"')] if built is not None and plain else []
                yield source.hit(built or call, told, *fix, safe=False)
