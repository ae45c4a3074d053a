"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Step

_BECAUSE = ("hook-hoards-activations", "buffer-updated-with-graph")
_LOOKS = (6, 12, 18)  # steps at which the containers are counted


def watch(step: Step) -> Alarm | None:
    alive = step.run.graphs_alive()
    grows = step.in_a_row(8, alive > step.memory.get("alive", 0), "grows")
    step.memory["alive"] = alive
    anew = grows and step.memory["grows"] == 8  # eight steps in a row, each with one graph more
    inner = step.run.activations_alive()  # a part of the loss may be kept, and the loss itself not
    more = step.in_a_row(8, inner > step.memory.get("inner", 0), "more")
    step.memory["inner"] = inner
    parts = step.times(2, more and step.memory["more"] == 8, "parts")
    kept = step.in_a_row(2, step.number >= 16 and inner >= 16 > alive, "kept")
    keeper = step.run.keeper() if kept else None
    summed = keeper is not None and keeper.number
    if step.in_a_row(2, step.number >= 20 and alive >= 20) or step.times(2, anew) or parts or summed:
        keeper = keeper or step.run.keeper()
        name = f"`{keeper.name}` keeps" if keeper else "something keeps"
        told = f"{name} the graph of every loss in memory; keep loss.item() or loss.detach()"
        return Alarm(
            told, at=keeper.place if keeper else None, evidence=f"{max(alive, inner)} of the last 24 graphs are alive"
        )
    return (
        _container(step)
        if step.number in _LOOKS and step.notes.setdefault("of", step.subject) == step.subject
        else None
    )


def _container(step: Step) -> Alarm | None:
    """A container of the user's whose graphs have more nodes at each look."""
    now = step.run.kept_nodes()
    history = step.notes.setdefault("nodes", [])
    history.append({name: count for name, (count, _) in now.items()})
    full = sum(count for count, _ in now.values()) >= 12_000  # where counting ends
    for name, (count, place) in now.items() if len(history) == len(_LOOKS) else ():
        first, second = history[0].get(name, 0), history[1].get(name, 0)
        steady = (count - second) * 4 >= (second - first) * 3 or (full and count >= second)
        if first and second - first >= 6 and steady:
            told = f"`{name}` keeps graphs, and more with every step; put in `.detach()` of a tensor, or fill it under torch.no_grad()"
            return Alarm(
                told,
                at=place,
                evidence=f"{first}, {second} and {count} nodes after 6, 12 and 18 steps",
                because=_BECAUSE,
            )
    return None
