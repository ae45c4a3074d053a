"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step

_PLAIN = ("nllloss", "mseloss", "l1loss", "smoothl1loss", "binarycrossentropy", "binarycrossentropywithlogits")


def watch(step: Step) -> Alarm | None:
    backwards = step.of("backward")
    losses = [event for event in step.of("loss") if event.facts["grad_enabled"] and event.name != "nll_loss"]
    alone = len(backwards) == 1 and backwards[0].facts["made_by"] in _PLAIN
    places = [event.place for event in losses]
    again = len(places) > 1 and places.count(places[-1]) > 1
    same = again and (len(set(places)) == 1 or bool(step.without_gradient))  # else the others may be printed only
    if not step.in_a_row(3, alone and same and not step.closure and step.order.rfind("L") < step.order.find("B")):
        return None
    return Alarm(
        f"{len(losses)} losses are computed here for one backward(), and only the last of them is used; add them up",
        at=losses[-1].place,
    )
