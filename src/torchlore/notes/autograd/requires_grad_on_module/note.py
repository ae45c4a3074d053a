"""`module.requires_grad = False` freezes nothing: a module has no such attribute until you make it.

Python lets any attribute be set on a module. `backbone.requires_grad = False` makes a new, meaningless one; every
parameter of the backbone goes on training. The misspelt `p.require_grad = False` (without the s) does the same to a
parameter. Neither raises. The fine-tuned model is then simply another model than the one that was planned.

Write the method, with its underscore, which reaches every parameter inside:

```python
backbone.requires_grad_(False)
```

On a tensor, `x.requires_grad_()` turns recording on; it works for floating-point tensors only. Frozen parameters do not
stop BatchNorm from moving its statistics: put a frozen backbone into `eval()` as well.
"""

from torchlore.watch.pictures import Alarm, Step

_MISSPELT = {"require_grad", "require_grads", "requires_grads", "requires_gradient", "require_gradient", "requiresgrad"}

ROWS = ("autograd-requires-grad",)
SOURCES = ("001:34",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["backbone_moved"] > 0
    assert good["backbone_moved"] == 0
    assert good["head_moved"] > 0

    weight = nn.Linear(2, 2).weight
    weight.require_grad = False  # type: ignore[attr-defined]  # the misspelling is the point
    assert weight.requires_grad
    try:
        torch.ones(2, dtype=torch.long).requires_grad_()
    except RuntimeError:
        pass
    else:
        raise AssertionError("an integer tensor took a gradient")


def watch(step: Step) -> Alarm | None:
    if step.number != 1:
        return None
    for module in step.run.modules():
        for name, weight in module.named_parameters():
            told = [one for one in _MISSPELT if vars(weight).get(one) is False]
            if told and weight.requires_grad:
                line = step.place.first(rf"\.{told[0]}\s*=") if step.place else None
                return Alarm(
                    f"`{name}.{told[0]} = False` froze nothing; the attribute is called requires_grad", at=line
                )
        for name, part in module.named_modules():
            trained = [p for p in part.parameters() if p.requires_grad]
            if vars(part).get("requires_grad") is False and trained:
                return Alarm(
                    f"`{name or 'the model'}.requires_grad = False` froze nothing; call `requires_grad_(False)`",
                    at=step.place.first(r"\.requires_grad\s*=\s*False") if step.place else None,
                    evidence=f"{len(trained)} of its parameters still train",
                )
    return None
