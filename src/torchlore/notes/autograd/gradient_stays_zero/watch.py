"""What a running program shows of it."""

import math

from torchlore.watch.pictures import Alarm, Parameter, Place, Step, assignment

_ALL, _SOME = 6, 40  # steps that must have passed where every gradient is zero, and where some are
_BECAUSE = (
    *("dead-relu", "zero-initialised-hidden", "single-logit-softmax", "all-targets-ignored", "learning-rate-zero"),
    *("inputs-not-normalised", "optimizer-sees-no-gradient", "zero-grad-between-backward-and-step", "twins-stay-equal"),
)


def watch(step: Step) -> Alarm | None:
    if step.memory.get("moved") or not step.of("backward") or not step.trainable:
        return None
    wide = {one.name: one for one in step.trainable if one.tensor.dim() > 1 and one.tensor.is_cpu}
    still = step.memory.get("still", list(wide))
    still = [name for name in still if name in wide and wide[name].grad is not None and wide[name].empty]
    step.memory["still"], step.memory["moved"] = still, not still
    step.memory["looks"] = looks = step.memory.get("looks", 0) + 1
    whole = len(still) == len(wide) and all(one.empty for one in step.trainable)
    if not still or looks != (_ALL if whole else _SOME) or not step.run.loss or not math.isfinite(step.run.loss):
        return None
    turns = set() if whole else _have_turns(step)
    moving = [name for name in wide if name not in still]
    still = [n for n in still if not any(n.startswith(t) and any(m.startswith(t) for m in moving) for t in turns)]
    if not still:
        return None
    told = "every gradient is" if whole else f"the gradient of {', '.join(still[:3])} is"
    return Alarm(
        f"{told} exactly zero at each step, so nothing is learnt there; look for a factor that is zero, a function that is flat, or "
        "a backward() of one's own that gives zeros back",
        at=_line(step, wide[still[0]]) or step.record.place,
        certain=False,
        evidence=f"{len(still)} of {len(wide)} weights, {looks} steps",
        because=_BECAUSE,
    )


def _have_turns(step: Step) -> set[str]:
    """The starts of names of parts that stand side by side in a list or dictionary, as experts and heads do."""
    kinds = ("ModuleList", "ModuleDict")
    parts = (part for module in step.run.modules() for part in module.named_modules())
    return {f"{name}." if name else "" for name, part in parts if type(part).__name__ in kinds}


def _line(step: Step, one: Parameter) -> Place | None:
    """The line of the user's class that sets the layer, or the parameter itself."""
    for module in step.run.modules():
        for path, part in module.named_modules():
            for key, parameter in part.named_parameters(recurse=False):
                if parameter is not one.tensor:
                    continue
                above, _, attribute = path.rpartition(".")
                owner, name = (
                    (module.get_submodule(above), attribute) if type(part).__module__[:6] == "torch." else (part, key)
                )
                mine = name and type(owner).__module__[:6] != "torch."
                return assignment(type(owner), name) if mine else None
    return None
