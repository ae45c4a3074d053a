"""What a running program shows of it."""

from torchlore.watch.pictures import Alarm, Batch


def watch(batch: Batch) -> Alarm | None:
    images = batch.inputs
    if batch.index > 2 or images is None or images.dim() != 4 or images.shape[1] not in (1, 3):
        return None
    found = batch.values(images)
    if found is None or found.low < 0 or not 0 < found.high <= 1.001 / 255:
        return None
    return Alarm(
        f"no pixel is larger than {found.high:.2g}: they were divided by 255 twice; ToTensor has done it already",
        at=batch.record.place,
        certain=False,
    )
