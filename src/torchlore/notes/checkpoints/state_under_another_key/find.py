"""The rule of state-under-another-key."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree, values
from torchlore.check.source import Hit, Source

WORDS = ("state_dict",)
_KEYS = {
    "optimizer": re.compile(r"^(optim(izer)?|opt)(_state(_dict)?)?$", re.IGNORECASE),
    "scheduler": re.compile(r"^(lr_?)?sched(uler)?(_state(_dict)?)?$", re.IGNORECASE),
    "module": re.compile(r"^(model|net|network)(_state(_dict)?)?$", re.IGNORECASE),
}


def find(source: Source) -> Iterator[Hit]:
    for written in source.all(ast.Dict):
        for key, value in zip(written.keys, written.values, strict=True):
            name, owner = _kind(key), _owner(value)
            if not name or owner is None or key is None:
                continue
            if _is(source, owner) not in (name, ""):
                told = f"the state of `{source.code(owner)}` is saved as {tree.literal(key)!r}"
                yield source.hit(value, f"{told}, which a later run cannot go on from: save the {name}'s own")
    for load in source.methods("load_state_dict"):
        given, owner = tree.argument(load, 0, "state_dict"), tree.receiver(load)
        name = _kind(given.slice) if isinstance(given, ast.Subscript) else ""
        if name in ("optimizer", "module") and _is(source, owner) == "scheduler":
            told = f"`{source.code(owner)}` takes any dictionary without a word, and this is the {name}'s state"
            yield source.hit(load, f"{told}: load what was saved of the scheduler")


def _kind(key: ast.expr | None) -> str:
    """What a key of a checkpoint says."""
    text = tree.literal(key) if key is not None else ""
    return next((kind for kind, said in _KEYS.items() if isinstance(text, str) and said.match(text)), "")


def _owner(value: ast.expr) -> ast.expr | None:
    """`net` of `net.state_dict()`."""
    called = follow.method(value) == "state_dict" and isinstance(value, ast.Call)
    return tree.receiver(value) if called and isinstance(value, ast.Call) else None


def _is(source: Source, owner: ast.expr) -> str:
    return next((kind for kind in _KEYS if values.sure(source, owner, kind, weak=True)), "")
