"""What a running program shows of it."""

import re
from typing import Annotated

from torchlore.watch.pictures import Alarm, Call, assignment

_MEANT = re.compile(
    "shar|tie|same|recurr|universal|albert|looped|unrolled", re.IGNORECASE
)  # words of an author who wants one set of weights


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
            line = assignment(type(call.owner.get_submodule(above)), attribute) if attribute else None
            if _MEANT.search(f"{name} {line.text.partition('#')[0] if line else ''}"):
                continue
            return Alarm(f"{what}: one set of weights; make or deepcopy a layer for each place", at=line, certain=False)
    return None
