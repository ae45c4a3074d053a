"""`load_state_dict` fills the model and returns a report: assigned to the model, the model is gone.

`model = model.load_state_dict(state)` replaces the model by a pair of lists, the missing and the unexpected keys. The
next line that uses it fails with "has no attribute eval", or "object is not callable", far from the cause.

`torch.save(model.load_state_dict(best), path)` raises nothing at all: the file holds the two lists, and no weight.

Call it as a statement: `model.load_state_dict(state)`. With `strict=False` do read what it returns, under another name:
`missing, unexpected = model.load_state_dict(state, strict=False)`.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/lukemelas/EfficientNet-PyTorch/issues/119",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_NET = regex(r"model|net|coder|backbone|gen|dis|critic|actor|policy|class|head|body|ema|[GDCEF]$", re.IGNORECASE)


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["kind"] == "_IncompatibleKeys"
    assert good["kind"] == "Linear"


WORDS = ("load_state_dict",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("load_state_dict"):
        held = source.parents[call]
        if isinstance(held, ast.Call) and source.name(held.func) == "torch.save" and held.args[:1] == [call]:
            whose = source.code(tree.receiver(call))
            told = "this saves the report of missing keys, and no weight is in the file"
            yield source.hit(held, f"{told}: load first, then save `{whose}.state_dict()`")
        if not isinstance(held, ast.Assign) or len(held.targets) != 1:
            continue
        target, owner = held.targets[0], tree.receiver(call)
        code = tree.dotted(target)
        message = f"`{code}` becomes the report of missing keys, not the model: call it as a statement"
        if code and code == tree.dotted(owner):
            known = _NET.search(code) is not None or values.sure(source, owner, "module")
            fixed = edits.replace(source, held, source.code(call))
            yield source.hit(
                held, message, fixed, severity=None if known else "warning"
            )  # some trainers return themselves
        elif (
            code
            and isinstance(owner, ast.Call)
            and values.sure(source, owner, "module")
            and _as_model(source, held, code)
        ):
            built = edits.replace(source, held, f"{code} = {source.code(owner)}")
            loaded = edits.insert_after(source, held, f"{code}.{source.code(call)[len(source.code(owner)) + 1 :]}")
            yield source.hit(held, message, built, loaded)


def _as_model(source: Source, held: ast.Assign, code: str) -> bool:
    """Whether the name is used as a model afterwards."""
    used = (one for one in source.methods("eval", "train", "to", "cuda", "parameters", "state_dict"))
    later = any(tree.dotted(tree.receiver(one)) == code and one.lineno > held.lineno for one in used)
    return later or any(tree.dotted(one.func) == code and one.lineno > held.lineno for one in source.all(ast.Call))
