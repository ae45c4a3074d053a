"""`LambdaLR` multiplies what the function returns with the learning rate: return a factor, not a rate.

`LambdaLR(optimizer, lambda epoch: lr * 0.95**epoch)` with `lr=1e-3` trains at one millionth. The loss moves a little, so it
looks like a slow model. The same goes for a function that is handed to `lr_lambda` and returns the rate itself.

Leave the rate out: `LambdaLR(optimizer, lambda epoch: 0.95**epoch)`. It starts at 1.
"""

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/lhoyer/MIC/issues/60", "https://github.com/pytorch/pytorch/issues/78917")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["first_rate"] - 1e-4) < 1e-12
    assert good["first_rate"] == 1e-2


def watch(step: Step) -> Alarm | None:
    if not any(type(one.thing).__name__ == "LambdaLR" for one in step.record.schedulers):
        return None
    for number, group in enumerate(step.groups):
        rate, first = float(group["lr"]), float(group.get("initial_lr", 0.0))
        top = step.memory[str(number)] = max(rate, step.memory.get(str(number), 0.0))
        peak = step.number == 1 or (step.number > 11 and rate < top)  # a warm-up is over
        if peak and 0 < first < 0.5 and abs(top - first * first) < 1e-6 * first * first:
            told = f"LambdaLR multiplied the learning rate {first:g} with itself: {top:g}; its function must return a factor that is 1 at most"
            return Alarm(told, at=step.record.schedulers[0].place)
    return None
