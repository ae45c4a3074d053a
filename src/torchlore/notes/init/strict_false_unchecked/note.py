"""`load_state_dict(..., strict=False)` can load nothing at all and say so only in its return value.

A checkpoint saved from `DataParallel` or a compiled model has keys that start with `module.` or `_orig_mod.`. With
`strict=False` none of them matches, nothing is loaded, nothing raises, and training starts from random weights. The answer
is in the result that the bare statement throws away: the lists of missing and unexpected keys. A shape that does not fit
raises even so.

Read it, or use the recipe, which strips the wrappers' prefixes, accounts for every key and refuses when nothing fits:

```python
missing, unexpected = model.load_state_dict(state, strict=False)
assert set(missing) <= {"head.weight", "head.bias"} and not unexpected

from torchlore.recipes.weights import load_into
print(load_into(model, state, skip=("head",)))
```
"""

from __future__ import annotations

from collections.abc import Container
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ("init-partial-load",)
SOURCES = ("003:258-261",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of

    assert bad["distance"] > 0.1
    assert good["distance"] == 0
    layer = nn.Linear(2, 2)
    answer = layer.load_state_dict({"module.weight": torch.ones(2, 2)}, strict=False)
    assert answer.missing_keys == ["weight", "bias"]
    assert answer.unexpected_keys == ["module.weight"]
    wrong = {"weight": torch.ones(3, 2)}
    assert error_of(lambda: layer.load_state_dict(wrong, strict=False)) == "RuntimeError"


def watch(call: Annotated[Call, "Module.load_state_dict"]) -> Alarm | None:
    own, missing = call.owner.state_dict(), getattr(call.result, "missing_keys", ())
    if not own or len(missing) < len(own):
        return None
    prefix = _prefix(list(getattr(call.result, "unexpected_keys", ())), own)
    names = f"take `{prefix}` off its names" if prefix else "its names are others"
    told = f"not one weight of the file fits the model, and strict=False says nothing: {names}"
    return Alarm(told, evidence=f"{len(missing)} of {len(own)} keys are missing")


def _prefix(names: list[str], own: Container[str]) -> str:
    """What stands before every name of the file: `module.`, `_orig_mod.`, `model.net.`."""
    first = names[0] if names else ""
    heads = [first[: place + 1] for place, letter in enumerate(first) if letter == "."]
    return next((one for one in heads if all(name.removeprefix(one) in own for name in names)), "")
