"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step


def watch(step: Step) -> Alarm | None:
    alive = step.run.activations_alive() if step.number >= 16 else 0
    if not step.in_a_row(2, alive >= 16 > step.run.graphs_alive()):
        return None
    keeper = step.run.keeper()
    name = f"`{keeper.name}` keeps" if keeper else "something keeps"
    told = f"{name} activations of every batch in memory, with their graph; keep `output.detach()`, and only what is needed"
    return Alarm(
        told,
        at=keeper.place if keeper else None,
        evidence=f"activations of {alive} of the last 24 backward passes are alive",
        because=("buffer-updated-with-graph",),
    )
