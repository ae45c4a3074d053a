"""The rule of strict-false-unchecked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source

_WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel")
_SAID = re.compile(
    r"compatib|strict|miss|skip|ignor|unexpected|partial|\bkeys?\b|not match|head|classifier|backbone|frozen"
)


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("load_state_dict"):
        loose = tree.literal(tree.argument(call, 1, "strict")) is False
        if loose and tree.is_statement(source, call) and call.args and _as_it_was_saved(source, call.args[0]):
            model = source.code(tree.receiver(call))
            message = f"keys that do not fit `{model}` are skipped in silence: read the lists that this returns"
            given = source.code(follow.followed(source, call.args[0]))
            published = "load_state_dict_from_url" in given  # its author knows which keys are left out
            told = any("DataParallel" in source.code(test) for test, _ in tree.conditions(source, call))
            meant = published or told or _SAID.search(follow.comment(source, call)) or follow.in_test(source, call)
            yield source.hit(
                call, message, severity=None if _prefixed(source, tree.receiver(call)) and not meant else "hint"
            )


def _prefixed(source: Source, model: ast.expr) -> bool:
    """Whether names here are known to get a prefix that the model does not have; else one may want a part of them."""
    wraps = any(one.attr.endswith("DataParallel") for one in source.all(ast.Attribute)) or any(source.calls(*_WRAPPERS))
    found = source.values(model) if wraps else ()
    return bool(found) and all(one.name not in _WRAPPERS for one in found)


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
