"""What a running program shows of it."""

import re
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call, assignment

_MEANT = re.compile(
    "shar|tie|same|recurr|universal|albert|looped|unrolled", re.IGNORECASE
)  # words of an author who wants one set of weights

_CLASS = re.compile("shared|sharing|tied|tying|universal|albert|looped|unrolled", re.IGNORECASE)


def watch(call: Annotated[Call, "forward"]) -> Alarm | None:
    if call.memory.setdefault("looked", 0):
        return None
    call.memory["looked"] = 1
    holders: dict[int, str] = {}
    for name, box in call.owner.named_modules():
        if type(box).__name__ not in ("ModuleList", "Sequential"):
            continue
        inside = [one for one in box if any(p.requires_grad for p in one.parameters())]
        twice = len(inside) - len({id(one) for one in inside})
        again = {holders[id(one)] for one in inside if id(one) in holders}
        holders.update({id(one): name for one in inside})
        if (twice or (again and len(inside) > 1)) and inside:
            what = (
                f"`{name}` holds one layer {twice + 1} times"
                if twice
                else f"`{name}` holds the layers of `{min(again)}`"
            )
            above, _, attribute = name.rpartition(".")
            holder = type(call.owner.get_submodule(above))
            line = assignment(holder, attribute) if attribute else None
            if _MEANT.search(f"{name} {line.text.partition('#')[0] if line else ''}") or _CLASS.search(_told(holder)):
                continue
            return Alarm(f"{what}: one set of weights; make or deepcopy a layer for each place", at=line, certain=False)
    return None


def _told(cls: type) -> str:
    """What a class says of itself: `class SharedEncoder`; torch's own pages say nothing of this network."""
    return "" if cls.__module__.startswith("torch.") else f"{cls.__name__} {cls.__doc__ or ''}"
