"""From the trace of a pickle to what it would import and call, each with a verdict and a position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from torchlore.ckpt.names import Verdict, judge, judge_call
from torchlore.ckpt.stack import Event, Trace
from torchlore.ckpt.values import Call, Global, Map, Persistent, Seq, Unknown, Value, arguments, brief, is_global


@dataclass(frozen=True, slots=True)
class Use:
    """One name or trick in a pickle, the worst that is done with it, and where."""

    what: str  # "posix.system"
    verdict: Verdict
    reason: str
    how: str  # "imported", "called with ('id',)"
    position: int  # byte of the opcode in the member
    opcode: str
    member: str = ""  # "archive/data.pkl", "bytes at 120"
    count: int = 1

    @property
    def where(self) -> str:
        """`archive/data.pkl, byte 14 (GLOBAL)`."""
        place = f"byte {self.position}" + (f" ({self.opcode})" if self.opcode else "")
        return f"{self.member}, {place}" if self.member else place


def uses(trace: Trace, member: str = "", allow: tuple[str, ...] = (), *, script: bool = False) -> list[Use]:
    """What the pickle would import and call, worst first, one entry a name.

    `allow` holds patterns of names that the user trusts, such as `mypackage.*`; `script` says that the pickle is part
    of a TorchScript archive, whose `__torch__` names are compiled inside it.
    """
    found: dict[str, Use] = {}
    for event in trace.events:
        for use in _event(event):
            trusted = any(fnmatchcase(use.what, pattern) for pattern in allow)
            inside = script and use.what.startswith("__torch__.")
            seen = replace(use, member=member, verdict=Verdict.ALLOWED, reason="") if trusted or inside else use
            seen = replace(seen, member=member)
            old = found.get(seen.what)
            if old is None:
                found[seen.what] = seen
            elif seen.verdict.rank > old.verdict.rank or (seen.verdict is old.verdict and old.how == "imported"):
                found[seen.what] = replace(seen, count=old.count + (seen.how != "imported"))
            else:
                found[seen.what] = replace(old, count=old.count + 1)
    return sorted(found.values(), key=lambda use: (-use.verdict.rank, use.position))


_HIDDEN = "the name hides behind a number of the copyreg registry"


def _event(event: Event) -> Iterator[Use]:
    value = event.value
    if event.kind == "import" and isinstance(value, Global):
        verdict, reason = judge(value.module, value.name)
        if value.computed:
            verdict, reason = (
                Verdict.DANGEROUS,
                f"its name is made by a call, so that a reader of strings misses it{reason and '; '}{reason}",
            )
        yield Use(value.path, verdict, reason, "imported", event.position, event.opcode)
    elif event.kind == "call" and isinstance(value, Call):
        yield from _call(value, event)
    elif event.kind in ("build", "change"):
        yield from _change(event)
    elif event.kind == "extension":
        yield Use(f"extension {brief(value)}", Verdict.DANGEROUS, _HIDDEN, "imported", event.position, event.opcode)


def _call(call: Call, event: Event) -> Iterator[Use]:
    function = call.function
    how = f"called with {brief(call.arguments)}"
    if not isinstance(function, Global):
        what = brief(function)
        if isinstance(function, Persistent):  # a class saved with its source: torch 0.x whole models
            yield from _call_persistent(function, event, how)
            return
        hidden = isinstance(function, Unknown) and what.startswith("extension")
        reason = _HIDDEN if hidden else "it calls what another call returned, so that its name is hidden"
        yield Use(what, Verdict.DANGEROUS, reason, how, event.position, event.opcode)
        return
    verdict, reason = judge_call(function.module, function.name)
    if function.path == "builtins.getattr":
        verdict, reason = _getattr(call)
    elif function.path in _ALLOCATORS and _is_huge(call):
        verdict, reason = Verdict.DANGEROUS, "it asks for more memory than any checkpoint needs"
    yield Use(function.path, verdict, reason, how, event.position, event.opcode)
    yield from _indirect(call, event)


def _call_persistent(function: Persistent, event: Event, how: str) -> Iterator[Use]:
    items = function.identity.items if isinstance(function.identity, Seq) else []
    named = next((item for item in items if isinstance(item, Global)), None)
    if named is None:
        reason = "it calls an object that the file does not name"
        yield Use("persistent object", Verdict.DANGEROUS, reason, how, event.position, event.opcode)
        return
    verdict, reason = judge_call(named.module, named.name)
    yield Use(named.path, verdict, reason, how, event.position, event.opcode)


_ALLOCATORS = {"builtins.bytearray", "builtins.bytes", "builtins.list", "builtins.tuple", "builtins.set"}


def _is_huge(call: Call) -> bool:
    for value in arguments(call):
        if isinstance(value, int) and not isinstance(value, bool) and value > 1 << 28:
            return True
        if isinstance(value, Call) and is_global(value.function, "builtins.range"):
            return True
    return False


def _getattr(call: Call) -> tuple[Verdict, str]:
    """A bound method or a nested class is pickled as `getattr(owner, name)`: judge the owner and the name."""
    given = arguments(call)
    if len(given) < 2 or not isinstance(given[1], str):
        return Verdict.DANGEROUS, "the attribute's name is made by a call"
    if given[1].startswith("__"):
        return Verdict.DANGEROUS, f"it reaches for {given[1]}"
    owner = given[0].function if isinstance(given[0], Call) else given[0]
    if not isinstance(owner, Global):
        return Verdict.DANGEROUS, "it reaches into an object that is not named"
    verdict, reason = judge(owner.module, f"{owner.name}.{given[1]}")
    return max(verdict, Verdict.UNKNOWN, key=lambda v: v.rank), reason or f"it fetches {given[1]} of {owner.path}"


_INDIRECT = {  # functions that call or build what they are handed: which argument that is
    "torch._tensor._rebuild_from_type_v2": 0,
    "torch._tensor._rebuild_from_type": 0,
    "copyreg._reconstructor": 0,
    "copyreg.__newobj__": 0,
    "copyreg.__newobj_ex__": 0,
    "torch._utils._rebuild_wrapper_subclass": 0,
    "numpy.core.multiarray._reconstruct": 0,
    "numpy._core.multiarray._reconstruct": 0,
}


def _indirect(call: Call, event: Event) -> Iterator[Use]:
    function, given = call.function, arguments(call)
    if not isinstance(function, Global) or function.path not in _INDIRECT:
        return
    if len(given) <= _INDIRECT[function.path]:
        if given or not isinstance(call.arguments, Seq):
            reason = "what it calls is not written down"
            yield Use(function.path, Verdict.DANGEROUS, reason, "called", event.position, event.opcode)
        return
    target = given[_INDIRECT[function.path]]
    if isinstance(target, Persistent):
        yield from _call_persistent(target, event, f"called by {function.path}")
    elif isinstance(target, Global):
        verdict, reason = judge_call(target.module, target.name)
        yield Use(target.path, verdict, reason, f"called by {function.path}", event.position, event.opcode)
    else:
        reason = f"{function.path} calls what another call returned"
        yield Use(brief(target), Verdict.DANGEROUS, reason, "called", event.position, event.opcode)


def _change(event: Event) -> Iterator[Use]:
    target, at, opcode = event.value, event.position, event.opcode
    if isinstance(target, Global):
        reason = "it changes an object of the running program in place"
        yield Use(target.path, Verdict.DANGEROUS, reason, f"changed by {opcode}", at, opcode)
    elif isinstance(target, Unknown | Persistent) and event.kind == "change":
        yield Use(
            brief(target),
            Verdict.UNKNOWN,
            "it changes an object that is not in the file",
            f"changed by {opcode}",
            at,
            opcode,
        )
    elif isinstance(target, Call) and isinstance(event.state, Seq) and len(event.state.items) == 2:
        slots = event.state.items[1]
        yield from _slots(target, slots, at, opcode)


def _slots(target: Call, slots: Value, at: int, opcode: str) -> Iterator[Use]:
    if not isinstance(slots, Map) or is_global(target.function, "argparse.Namespace"):
        return
    for key, _ in slots.pairs:
        if isinstance(key, str) and key.startswith("__"):
            reason = f"it sets {key}, which changes what the object is"
            yield Use(brief(target.function), Verdict.DANGEROUS, reason, f"changed by {opcode}", at, opcode)
