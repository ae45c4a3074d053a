"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Batch


def watch(batch: Batch) -> Alarm | None:
    images = batch.inputs
    if images is None or images.dim() < 4 or batch.index > 4 or images.numel() < 256:
        return None
    found, data = batch.values(images), batch.dataset
    while hasattr(data, "dataset"):
        data = data.dataset
    if found is None:
        return None
    shuffled = type(getattr(batch.loader, "sampler", None)).__name__ == "RandomSampler"
    key = f"{type(data).__name__} {tuple(images.shape[1:])}"
    seen = batch.notes.setdefault(key, {})
    if shuffled and found.low < -0.4:
        seen["trained"] = seen.get("trained", 0) + 1
        seen["low"] = found.low
    plain = not shuffled and found.low >= 0 and found.high <= 1 and found.high > 0.05
    if not batch.in_a_row(2, plain and seen.get("trained", 0) >= 3):
        return None
    return Alarm(
        f"these inputs lie between 0 and 1, those of the training go down to {seen['low']:.3g}: give both the same Normalize",
        at=batch.record.place,
        certain=False,
        evidence=f"{found.low:.3g} to {found.high:.3g}",
    )
