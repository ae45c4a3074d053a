"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    if step.number not in (4, 20):
        return None
    held = step.run.ever_held()
    for root in step.run.roots:
        module = root.module
        if (
            module is None
            or not module.training
            or root.train_forwards < 3
            or any(id(p) in held for p in module.parameters())
        ):
            continue
        version = next(module.parameters())._version  # noqa: SLF001 - who writes to it trains it by hand, or is a moving average
        active = [name for name, layer in root.mode_sensitive() if layer.training]
        if active and step.number == 20 and step.memory.get(str(root.key)) == version:
            return Alarm(
                f"{root.kind} is never trained and runs in train mode, so its answers are noisy; call eval() on it",
                at=root.place,
                certain=False,
                evidence=f"active: {', '.join(active[:3])}",
            )
        step.memory[str(root.key)] = version
    return None
