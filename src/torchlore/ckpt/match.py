"""Which weights of a checkpoint fit a model, why the others do not, and the renaming that would make them fit.

Works on names, shapes and dtypes alone; no tensor is looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from torchlore.ckpt.weights import wrapper_prefix

Shape = tuple[int, ...]
Specs = Mapping[str, tuple[Shape, str]]  # key -> shape, dtype
_POSITIONS = re.compile(
    r"pos(ition)?_?(al)?_?(emb|enc)|relative_position|rel_pos|wpe\.|position_ids|pos_embed", re.IGNORECASE
)
_HEADS = re.compile(
    r"(^|\.)(fc|head|heads|classifier|last_linear|logits|output|predictor|cls|score|lm_head|linear)\d*\.", re.IGNORECASE
)
_COUNTERS = ("num_batches_tracked", "position_ids", "n_averaged")


@dataclass(frozen=True, slots=True)
class Misfit:
    """A key that is in both but does not fit, and why."""

    source: str
    target: str
    reason: str
    have: Shape
    want: Shape


@dataclass(slots=True)
class Match:
    """How a checkpoint fits a model."""

    mapping: dict[str, str] = field(default_factory=dict)  # key in the checkpoint -> key in the model
    rules: list[str] = field(default_factory=list)  # how names were changed, in words
    misfits: list[Misfit] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # the model wants them, the checkpoint lacks them
    unused: list[str] = field(default_factory=list)  # the checkpoint has them, the model does not want them
    dtypes: dict[str, tuple[str, str]] = field(default_factory=dict)  # fits, but is cast when it is loaded
    exact: int = 0  # keys that fit under their own name
    total: int = 0  # keys of the model

    @property
    def complete(self) -> bool:
        """Whether every key of the model gets its weights and nothing is left over."""
        return not (self.missing or self.unused or self.misfits)


def match(source: Specs, target: Specs) -> Match:
    """Find the mapping from a checkpoint's keys to a model's, by name, by prefix, by one renaming, or by order.

    >>> got = match({"module.fc.weight": ((2, 3), "float32")}, {"fc.weight": ((2, 3), "float32")})
    >>> got.mapping, got.rules
    ({'module.fc.weight': 'fc.weight'}, ["take the prefix 'module.' off"])
    """
    names, rules = _prefixes(source, target)
    rename, more = _renames(names, source, target)
    names.update(rename)
    rules += more
    result = Match(rules=rules, total=len(target))
    _settle(result, names, source, target)
    if not _good(result) and (ordered := _by_order(source, target)):
        result = Match(rules=["take them in order: names differ, shapes agree one by one"], total=len(target))
        _settle(result, ordered, source, target)
    return result


def _good(result: Match) -> bool:
    return len(result.mapping) * 2 > result.total


def _settle(result: Match, names: dict[str, str], source: Specs, target: Specs) -> None:
    taken: dict[str, str] = {}
    for key, new in names.items():
        if new not in target or new in taken:
            continue
        (have, dtype), (want, wanted) = source[key], target[new]
        if have == want:
            result.mapping[key] = new
            result.exact += key == new
            if dtype != wanted:
                result.dtypes[new] = (dtype, wanted)
        else:
            result.misfits.append(Misfit(key, new, why(new, have, want, target), have, want))
        taken[new] = key
    used = set(taken.values())
    result.missing = [key for key in target if key not in taken]
    result.unused = [key for key in source if key not in used]


def why(key: str, have: Shape, want: Shape, target: Specs) -> str:
    """Why two tensors of one name do not fit, in a few words."""
    different = [axis for axis, (a, b) in enumerate(zip(have, want, strict=False)) if a != b]
    same_rank = len(have) == len(want)
    is_head = different == [0] and (_HEADS.search(key) or _is_last(key, target))
    reshape = "; squeeze or reshape it" if _product(have) == _product(want) else ""
    for reason, found in (
        ("a position embedding for another input size; interpolate it", _POSITIONS.search(key)),
        ("transposed: it was saved as (in, out); apply .T", have == want[::-1] and len(have) == 2),
        (f"another number of dimensions{reshape}", not same_rank),
        (f"a head for {have[:1]} classes, the model has {want[:1]}; leave it out and train it", is_head),
        (f"{have[1:2]} input channels, the model has {want[1:2]}", different == [1] and len(have) == 4),
        (f"a vocabulary of {have[:1]}, the model has {want[:1]}", "embed" in key.lower() and different == [0]),
    ):
        if found:
            return re.sub(r"\((\d+),\)", r"\1", reason)
    return "another shape: the model is built with other sizes"


def _product(shape: Shape) -> int:
    result = 1
    for size in shape:
        result *= size
    return result


def _is_last(key: str, target: Specs) -> bool:
    last = next((name for name in reversed(list(target)) if not name.endswith(_COUNTERS)), "")
    return key.rsplit(".", 1)[0] == last.rsplit(".", 1)[0]


# prefixes ---------------------------------------------------------------------------------------------------------------


def _prefixes(source: Specs, target: Specs) -> tuple[dict[str, str], list[str]]:
    """The prefix to take off and the one to put on that make most names and shapes agree."""
    best, best_score, best_rules = (
        {key: key for key in source},
        _score({key: key for key in source}, source, target),
        [],
    )
    for off in _heads(source):
        covered = sum(key.startswith(off) for key in source)
        for on in _heads(target):
            if off == on:
                continue
            names = {key: on + key[len(off) :] if key.startswith(off) else key for key in source}
            score = _score(names, source, target)
            serves = covered * 2 >= len(source) or score * 5 >= len(target) * 6  # a prefix of few keys is a renaming
            if score > best_score and serves and score >= min(covered, len(target)):
                best, best_score = names, score
                best_rules = [_prefix_rule(off, on)]
    return best, best_rules


def _prefix_rule(off: str, on: str) -> str:
    if off and on:
        return f"rename {off[:-1]!r} to {on[:-1]!r}"
    return f"take the prefix {off!r} off" if off else f"put {on!r} in front"


def _heads(specs: Iterable[str]) -> list[str]:
    keys = list(specs)
    counts: Counter[str] = Counter()
    for key in keys:
        parts = key.split(".")
        counts.update(".".join(parts[:depth]) + "." for depth in range(1, min(len(parts), 5)))
    common = [head for head, count in counts.most_common(24) if count > 1]
    wrapped = wrapper_prefix(keys)
    return list(dict.fromkeys(["", *([wrapped] if wrapped else []), *common]))


def _score(names: dict[str, str], source: Specs, target: Specs) -> int:
    found = [(key, new) for key, new in names.items() if new in target and not new.endswith(_COUNTERS)]
    return sum(2 if source[key][0] == target[new][0] else 1 for key, new in found)


# one consistent renaming ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    """A run of name parts and what replaces it; `#` stands for a number that is kept."""

    old: str
    new: str

    def apply(self, name: str) -> str:
        numbers = iter(range(1, 10))
        pattern = "".join(r"(\d+)" if part == "#" else re.escape(part) for part in re.split("(#)", self.old))
        replacement = re.sub("#", lambda _: rf"\g<{next(numbers)}>", self.new.replace("\\", r"\\"))
        return re.sub(rf"(?<![^.]){pattern}(?![^.])", replacement, name, count=1)


def _renames(names: dict[str, str], source: Specs, target: Specs) -> tuple[dict[str, str], list[str]]:
    """Replace one run of name parts by another, the same everywhere, as long as that makes more keys fit."""
    current, rules = dict(names), []
    for _ in range(16):
        free = {key: new for key, new in current.items() if new not in target}
        reached = {new for new in current.values() if new in target}
        open_ = [key for key in target if key not in reached]
        if not free or not open_:
            break
        rule = _best_rule(free, open_, source, target)
        if rule is None:
            break
        wanted = set(open_)
        moved = {key: rule.apply(name) for key, name in free.items()}
        current.update({key: name for key, name in moved.items() if name in wanted})
        rules.append(f"rename {rule.old!r} to {rule.new!r}")
    return current, rules


def _best_rule(free: dict[str, str], open_: list[str], source: Specs, target: Specs) -> _Rule | None:
    votes: Counter[_Rule] = Counter()
    shapes: dict[Shape, list[str]] = {}
    for key in open_:
        shapes.setdefault(target[key][0], []).append(key)
    for key, name in list(free.items())[:: max(len(free) // 60, 1)]:
        for candidate in shapes.get(source[key][0], [])[:40]:
            votes.update(_rules(name, candidate))
    wanted = set(open_)
    best, best_gain = None, min(1, len(free) - 1)  # a rule for one key of many is a guess
    for rule, _ in votes.most_common(120):
        hits = [(key, new) for key, name in free.items() if (new := rule.apply(name)) in wanted]
        if len({new for _, new in hits}) < len(hits):
            continue  # two keys would become one
        telling = [(key, new) for key, new in hits if not new.endswith(_COUNTERS)]
        gain = sum(1 if source[key][0] == target[new][0] else -1 for key, new in telling)
        if gain > best_gain:
            best, best_gain = rule, gain
    return best


def _rules(name: str, candidate: str) -> list[_Rule]:
    """What would turn one name into the other: as it stands, and with its numbers kept open."""
    a, b = name.split("."), candidate.split(".")
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    if not a[start : len(a) - end] or len(a) - end - start > 5 or len(b) - end - start > 5:
        return []
    old, new = ".".join(a[start : len(a) - end]), ".".join(b[start : len(b) - end])
    if not new or "#" in old + new:
        return []
    found = [_Rule(old, new)]
    numbers, wanted = re.findall(r"\d+", old), re.findall(r"\d+", new)
    if numbers and numbers == wanted:
        found.append(_Rule(re.sub(r"\d+", "#", old), re.sub(r"\d+", "#", new)))
    if numbers and wanted and numbers[0] == wanted[0] and (len(numbers) > 1 or len(wanted) > 1):
        found.append(_Rule(re.sub(r"\d+", "#", old, count=1), re.sub(r"\d+", "#", new, count=1)))
    return found


def _by_order(source: Specs, target: Specs) -> dict[str, str]:
    """Pair the keys in order when all shapes agree; counters may be missing on one side."""
    for counters in ((), _COUNTERS):
        a = [key for key in source if not counters or not key.endswith(counters)]
        b = [key for key in target if not counters or not key.endswith(counters)]
        if len(a) == len(b) and all(source[x][0] == target[y][0] for x, y in zip(a, b, strict=True)):
            return dict(zip(a, b, strict=True))
    return {}


def rename_map(result: Match) -> dict[str, str]:
    """Only the keys that change their name."""
    return {old: new for old, new in result.mapping.items() if old != new}
