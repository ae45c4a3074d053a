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

import ast
import re
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("init-partial-load",)
SOURCES = ("003:258-261",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_SAID = re.compile(
    r"compatib|strict|miss|skip|ignor|unexpected|partial|\bkeys?\b|not match|head|classifier|backbone|frozen"
)


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


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("load_state_dict"):
        loose = tree.literal(tree.argument(call, 1, "strict")) is False
        if loose and tree.is_statement(source, call) and call.args and _as_it_was_saved(source, call.args[0]):
            model = source.code(tree.receiver(call))
            message = f"keys that do not fit `{model}` are skipped in silence: read the lists that this returns"
            given = source.code(follow.followed(source, call.args[0]))
            published = "load_state_dict_from_url" in given  # its author knows which keys are left out
            meant = published or _SAID.search(follow.comment(source, call)) or follow.in_test(source, call)
            yield source.hit(call, message, severity=None if _in_sight(source, call.args[0]) and not meant else "hint")


def _in_sight(source: Source, state: ast.expr) -> bool:
    """The names come from a net of this file, or are known to get a prefix; of a stranger's file one may want a part."""
    return "DataParallel" in source.text or ".state_dict()" in source.code(follow.followed(source, state))


def _as_it_was_saved(source: Source, state: ast.expr, depth: int = 4) -> bool:
    """Straight from a file or another model: nobody has picked or renamed its keys."""
    if isinstance(state, ast.Subscript):
        return isinstance(tree.literal(state.slice), str) and _as_it_was_saved(source, state.value, depth)
    if isinstance(state, ast.Call):
        full = source.name(state.func)
        saved = not full and isinstance(state.func, ast.Attribute) and state.func.attr == "state_dict"
        return saved or full in ("torch.load", "torch.hub.load_state_dict_from_url")
    if not isinstance(state, ast.Name) or not depth:
        return False
    home = tree.function(source, state)
    for other in source.all(ast.Name):
        up = source.parents[other]
        touched = isinstance(up, ast.Attribute) and up.attr in ("pop", "update", "items", "keys", "copy")
        stored = isinstance(up, ast.Subscript) and not isinstance(up.ctx, ast.Load)
        if other.id == state.id and (touched or stored) and tree.function(source, other) is home:
            return False
    bindings = scopes.reaching(source, state)
    kept = [one.value for one in bindings if one.value is not None and one.how == "assign" and not one.path]
    return bool(kept) and len(kept) == len(bindings) and all(_as_it_was_saved(source, one, depth - 1) for one in kept)


def watch(call: Annotated[Call, "Module.load_state_dict"]) -> Alarm | None:
    own, missing = call.owner.state_dict(), getattr(call.result, "missing_keys", ())
    if not own or len(missing) < len(own):
        return None
    told = "not one weight of the file fits the model, and strict=False says nothing; look at the names: a `module.` prefix must be taken off"
    return Alarm(told, evidence=f"{len(missing)} of {len(own)} keys are missing")
