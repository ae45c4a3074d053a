"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    if step.reached is None or step.number < 3:
        return None
    held, names = step.run.ever_held(), step.run.parameter_names()
    frozen = {id(p) for module in step.run.modules() if not module.training for p in module.parameters()}
    versions = step.memory.setdefault("versions", {})
    free = [p for p in step.reached if type(p).__name__ == "Parameter" and id(p) not in held and id(p) not in frozen]
    still = [p for p in free if versions.setdefault(id(p), p._version) == p._version]  # noqa: SLF001 - who writes to it trains it by hand
    alone = {
        id(p)
        for module in step.run.modules()
        if not any(id(p) in held for p in module.parameters())
        for p in module.parameters()
    }
    lost = [p for p in still if id(p) in alone or id(p) not in names]
    wide = [p for p in step.reached if p.dim() > 1]  # those next to the loss come first
    last = bool(lost) and (not wide or any(p is wide[0] for p in lost) or any(id(p) not in names for p in lost))
    drawn = bool(lost) and not step.run.counts["Module.load_state_dict"]  # else pretrained features, left as they are
    if not step.times(3, (last or drawn) and any(id(p) in held for p in step.reached)):
        return None
    what = ", ".join(sorted({names.get(id(p), f"a Parameter of shape {tuple(p.shape)}") for p in lost})[:3])
    return Alarm(
        f"{what} get gradients in every step and are in no optimizer, so they never change; give the optimizer their module too",
        at=step.record.place,
        evidence=f"{len(lost)} of the {len(step.reached)} parameters that the loss depends on",
        because=("modules-in-plain-container", "layer-created-in-forward", "optimizer-before-model-change"),
    )
