"""`torch.load(..., weights_only=False)` runs whatever code the file holds.

A checkpoint is a pickle, and a pickle can call any function. Since torch 2.6 the default is `weights_only=True`, which
reads tensors and plain values and refuses the rest. `weights_only=False` is the common answer to that refusal, and opens
the door again: a file from a hub, a colleague or a forum can do everything you can.

Keep the default, and save what it can read: a `state_dict` and plain numbers. For a file that holds a class you know,
allow that class alone: `with torch.serialization.safe_globals([Config]): torch.load(path)`. `lore ckpt` shows what a
file wants to call, without calling it.
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/pull/87443",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"
_FOREIGN = regex(r"download|https?:|\burl|hub|upload|request|cached_path|retrieve|_net\b", re.IGNORECASE)


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["ran"]
    assert not good["ran"]


WORDS = ("load|load_state_dict_from_url",)


def find(source: Source) -> Iterator[Hit]:
    own = any(source.calls("torch.save"))  # a script that reads what it wrote itself
    for call in source.calls("torch.load", "torch.hub.load_state_dict_from_url") if not own else ():
        given = tree.keyword(call, "weights_only")
        if follow.before(source, "2.6") and tree.lacks(call, None, "weights_only") and not follow.in_test(source, call):
            message = "before torch 2.6 this runs whatever code the file holds: add `weights_only=True`"
            yield source.hit(call, message, edits.add_keyword(source, call, "weights_only", "True"), safe=False)
        if given is not None and tree.literal(given.value) is False and not follow.in_test(source, call):
            yield source.hit(
                given,
                "this runs whatever code the file holds: leave weights_only at True, and allow single classes with "
                "torch.serialization.safe_globals",
                edits.replace(source, given, "weights_only=True"),
                safe=False,
                severity=None if _foreign(source, call) and not _refused(source, call) else "hint",
            )


def _foreign(source: Source, call: ast.Call) -> bool:
    """Whether the file comes from somewhere else: it is downloaded, or handed in over the network."""
    path = follow.followed(source, call.args[0]) if call.args else None
    told = source.code(path) if path is not None else ""
    return source.name(call.func).endswith("_from_url") or bool(_FOREIGN.search(told))


def _refused(source: Source, call: ast.Call) -> bool:
    """The safe way was tried first and refused."""
    return any(isinstance(up, ast.ExceptHandler) for up in tree.ancestors(source, call))
