"""What a running program shows of it."""

from itertools import pairwise

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    events = [event for event in step.events if event.group in ("seed", "forward")]
    again = None
    for seed, forward in pairwise(events):
        trains = forward.group == "forward" and forward.facts["training"] and forward.facts["grad_enabled"]
        again = seed if seed.group == "seed" and seed.name == "manual_seed" and trains else again
    if again is None:
        return None
    values = step.memory.setdefault("values", [])
    values.append((again.place, again.facts["value"]))
    if len(values) < 3 or len(set(values[-3:])) > 1:
        return None
    return Alarm(
        f"the seed {values[-1][1]} is set again and again between training steps, so every turn draws the same random "
        "numbers; seed once, before the loop",
        at=again.place,
    )
