"""The rule of collective-in-rank-branch."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, tree
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

_NAMES = ("all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "barrier", "all_gather_object",
          "gather_object", "broadcast_object_list", "reduce_scatter", "all_to_all", "monitored_barrier")  # fmt: skip
_MEETINGS = tuple(f"torch.distributed.{name}" for name in _NAMES)
_RANK = re.compile(
    r"^(\w*_)?rank$|^get_rank$|^is_main_process$|^is_master\w*$|^is_main$|^master_process$|^main_process$",
    re.IGNORECASE,
)

_QUIET = re.compile(r"print|log|get_rank|info|warn|sleep|format|distributed|dist\b", re.IGNORECASE)

WORDS = ("|".join(_NAMES), "*rank*|*is_main*|*is_master*|*master_process*|*main_process*")


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*_MEETINGS):
        branch = next((found for found in tree.conditions(source, call) if _is_rank(found[0])), None)
        if (
            branch is None
            or not tree.lacks(call, None, "group")
            or _is_answered(source, call, branch)
            or _may_meet(source, branch)
        ):
            continue
        what = source.name(call.func).rpartition(".")[2]
        yield source.hit(
            call,
            f"only some ranks reach this {what}, under `{source.code(branch[0])}`, and wait for the others for ever: call "
            "it on every rank",
        )
    yield from _in_helper(source)


def _in_helper(source: Source) -> Iterator[Hit]:
    """`if rank == 0: print(reduce_mean(loss))`, where the helper meets the other ranks whoever calls it."""
    for meeting in source.calls(*_MEETINGS):
        home = tree.function(source, meeting)
        if home is None or any(_is_rank(test) for test, _ in tree.conditions(source, meeting)):
            continue
        sites = [(at, call) for at, call, _ in calls.callers(as_function(source, home)) if at is source]
        for _, call in sites:
            branch = next((one for one in tree.conditions(source, call) if _is_rank(one[0])), None)
            beside = [
                one for _, one in sites if one is not call and tree.function(source, one) is tree.function(source, call)
            ]
            if (
                branch is not None
                and tree.lacks(meeting, None, "group")
                and not beside
                and not _may_meet(source, branch)
            ):
                what = source.name(meeting.func).rpartition(".")[2]
                told = f"only some ranks call `{home.name}`, under `{source.code(branch[0])}`, and its {what} (line {meeting.lineno}) waits for the others for ever"
                yield source.hit(call, f"{told}: call it on every rank")


def _is_rank(test: ast.expr) -> bool:
    one = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    if isinstance(one, ast.Compare):
        if tree.literal(one.comparators[0]) in (-1, None) or isinstance(one.ops[0], ast.GtE):
            return False  # -1 and None stand for "not distributed": every rank is in
        one = one.left
    one = one.func if isinstance(one, ast.Call) else one
    return bool(_RANK.match(tree.dotted(one).rpartition(".")[2]))


def _is_answered(source: Source, call: ast.Call, branch: tuple[ast.expr, bool]) -> bool:
    """Whether the same function has the same collective under another condition on the rank, or in the other branch."""
    home, name = tree.function(source, call), source.name(call.func)
    for other in source.calls(name):
        if other is call or tree.function(source, other) is not home:
            continue
        found = tree.conditions(source, other)
        tests = [(source.code(test), taken) for test, taken in found if any(_is_rank(one) for one in _parts(test))]
        below = not tests and other.lineno > call.lineno and _leaves(source, branch[0])
        if below or (tests and (source.code(branch[0]), branch[1]) not in tests):
            return True
    return False


def _may_meet(source: Source, branch: tuple[ast.expr, bool]) -> bool:
    """Whether the other ranks call something of their own in the other branch: `else: inputs = receive()`."""
    held = source.parents[branch[0]]
    others = (held.orelse if branch[1] else held.body) if isinstance(held, ast.If) else []
    asked = [one.test for one in others if isinstance(one, ast.If)]
    found = [n for one in others for n in ast.walk(one) if isinstance(n, ast.Call) and n not in asked]
    return any(not _QUIET.search(tree.dotted(one.func)) for one in found if tree.dotted(one.func))


def _leaves(source: Source, test: ast.expr) -> bool:
    """`if not main: barrier(); return`: the others meet it further down."""
    held = source.parents[test]
    return isinstance(held, ast.If) and isinstance(held.body[-1], ast.Return)


def _parts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) else [test]
