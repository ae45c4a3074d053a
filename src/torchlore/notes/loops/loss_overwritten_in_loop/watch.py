"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step

_PLAIN = ("nllloss", "mseloss", "l1loss", "smoothl1loss", "binarycrossentropy", "binarycrossentropywithlogits")


def watch(step: Step) -> Alarm | None:
    backwards = step.of("backward")
    losses = [event for event in step.of("loss") if event.facts["grad_enabled"] and event.name != "nll_loss"]
    alone = len(backwards) == 1 and backwards[0].facts["made_by"] in _PLAIN
    made = [(event.place, event.name) for event in losses]
    again = len(made) > 1 and made.count(made[-1]) > 1
    same = again and (len(set(made)) == 1 or bool(step.without_gradient))  # else the others may be printed only
    same = same and (
        len(set(made)) == 1 or len({place for place, _ in made}) > 1
    )  # several losses of one thing, on one line
    if not step.in_a_row(3, alone and same and not step.closure and step.order.rfind("L") < step.order.find("B")):
        return None
    return Alarm(
        f"{len(losses)} losses are computed here for one backward(), and only the last of them is used; add them up",
        at=losses[-1].place,
    )
