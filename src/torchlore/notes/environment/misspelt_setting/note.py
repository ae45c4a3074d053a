"""A setting under a misspelt name is set on nothing, and Python does not complain.

`group["learning_rate"] = 1e-4` adds a key that the optimizer never reads; it reads `"lr"`. `cudnn.benchmarks =
True` makes a new attribute of a module, `layer.weights = w` one of a layer, `optimizer.lr = 0.01` one of the optimizer,
and `optimizer.defaults["lr"]` is only read when a group is added. The run goes on with the old value, and the log says
that it was changed.

Write the name that is read: `group["lr"]`, `torch.backends.cudnn.benchmark`, `layer.weight`. `print(optimizer)` shows
every key of every group, a stray one as well.
"""

from typing import Any

from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] > good["moved"] * 5  # it went on at the old rate
    assert bad["searches"] is False
    assert good["searches"] is True


_STRAY = frozenset(("learning_rate", "learningrate", "LR", "Lr", "learn_rate", "lrs", "weightdecay", "weight-decay",
                    "weight_decays", "wd", "momentun", "momentums", "beta"))  # fmt: skip


def watch(step: Step) -> Alarm | None:
    for key in {"lr", *_STRAY} & vars(step.optimizer).keys():  # a subclass may have one, and reads it
        if type(step.optimizer).__module__.startswith("torch.optim"):
            told = f'`optimizer.{key}` is an attribute that nobody reads; set `group["lr"]` of optimizer.param_groups'
            return Alarm(told, at=step.record.place)
    default = step.optimizer.defaults.get("lr")
    moved = step.memory.setdefault("lr", default) != default and step.rates == step.record.first_rates
    if moved and not step.record.schedulers:
        return Alarm(
            '`optimizer.defaults["lr"]` is read when a group is made, and never again; set it in optimizer.param_groups'
        )
    for group in step.groups if step.number <= 3 else ():
        for key in _STRAY & group.keys():
            return Alarm(
                f'the optimizer has a key "{key}" that nobody reads, as it reads "lr" and "weight_decay"',
                at=step.record.place,
            )
    return None
