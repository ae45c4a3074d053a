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

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree, uses, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

_MISSPELT = {"require_grad", "require_grads", "requires_grads", "requires_gradient", "require_gradient", "requiresgrad"}
_WRITTEN = {"requires_grad", *_MISSPELT}

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
                return Alarm(f"`{name}.{told[0]} = False` froze nothing; the attribute is called requires_grad")
        for name, part in module.named_modules():
            trained = [p for p in part.parameters() if p.requires_grad]
            if vars(part).get("requires_grad") is False and trained:
                return Alarm(
                    f"`{name or 'the model'}.requires_grad = False` froze nothing; call `requires_grad_(False)`",
                    evidence=f"{len(trained)} of its parameters still train",
                )
    return None


def find(source: Source) -> Iterator[Hit]:
    for assign in source.all(ast.Assign):
        for target in assign.targets:
            if not isinstance(target, ast.Attribute) or target.attr not in _WRITTEN:
                continue
            if target.attr not in _MISSPELT and tree.literal(assign.value) not in (True, False):
                continue
            owner, value = source.code(target.value), source.code(assign.value)
            if target.attr == "requires_grad" and owner != "self" and values.sure(source, target.value, "module"):
                edit = edits.replace(source, assign, f"{owner}.requires_grad_({value})")
                message = f"`{owner}` is a module, so this changes none of its parameters: write `{edit.text}`"
                yield source.hit(assign, message, *([edit] if len(assign.targets) == 1 else []))
            elif target.attr in _MISSPELT and _read(source, target):
                continue  # an option of the class, by a like name
            elif target.attr in _MISSPELT and values.sure(source, target.value, "tensor", "module"):
                fixed = f"{owner}.requires_grad_({value})"
                message = f"`{target.attr}` is a new attribute that nobody reads: write `{fixed}`"
                harmless = value == "False" and not values.sure(source, target.value, "parameter", "module")
                edit = edits.replace(source, assign, fixed)
                yield source.hit(assign, message, edit, severity="hint" if harmless else "error")


def _read(source: Source, target: ast.Attribute) -> bool:
    """Whether somebody reads `self.require_grad` in the file."""
    same = (one for one in uses.attributes(source, target.attr) if isinstance(one.ctx, ast.Load))
    return tree.dotted(target.value) == "self" and any(tree.dotted(one.value) == "self" for one in same)
