"""`model.eval()` in the epoch loop stays on: from the second epoch it trains in evaluation mode.

Nothing switches the mode back. With `model.train()` before the loop only, or nowhere, the first validation turns dropout
off and freezes the statistics of batch norm for the rest of the training.

Call `model.train()` at the top of every epoch, or right after the evaluation.
"""

from typing import TYPE_CHECKING, Any

from torchlore.watch.pictures import Alarm, Step

if TYPE_CHECKING:
    from torch import nn

ROWS = ()
SOURCES = ("https://discuss.pytorch.org/t/model-train-and-model-eval-vs-model-and-model-eval/5744",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["trained_in_train_mode"] == [True, False, False]
    assert good["trained_in_train_mode"] == [True, True, True]


def watch(step: Step) -> Alarm | None:
    forwards = [one for one in step.of("forward") if one.facts["grad_enabled"]]
    if not forwards:
        return None
    root = forwards[-1].facts["record"]
    evaluates = not forwards[-1].facts["training"] and root.train_forwards and _is_stepped(step, root.module)
    layers = root.mode_sensitive() if evaluates else []
    if not step.in_a_row(2, bool(layers)):
        return None
    evals = step.run.seen["Module.eval"] or step.run.seen["Module.train"]
    told = f"{root.kind} trains in evaluation mode since eval() was called; call train() before the training goes on"
    off = ", ".join(name for name, _ in layers[:3])
    return Alarm(told, at=evals[-1].place if evals else None, evidence=f"switched off: {off}")


def _is_stepped(step: Step, module: "nn.Module | None") -> bool:
    """Whether this optimizer moves it: a GAN's critic may judge in eval mode while the generator steps."""
    mine = {id(one.tensor) for one in step.parameters}
    return module is not None and any(id(p) in mine for p in module.parameters())
