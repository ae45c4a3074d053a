"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Batch, Call


def watch(picture: Annotated[Call, "forward"] | Batch) -> Alarm | None:
    called = isinstance(picture, Call)
    if called and (picture.run.steps > 2 or len(picture.args) < 2):  # type: ignore[union-attr]  # a call has arguments
        return None
    images: Any = picture.args[1] if isinstance(picture, Call) else picture.inputs
    if getattr(images, "ndim", 0) != 4 or images.shape[1] not in (1, 3):
        return None
    found = picture.values(images) if called or picture.index <= 2 else None  # type: ignore[union-attr]  # see above
    if found is None or found.low < 0 or not 0 < found.high <= 1.001 / 255 or picture.notes.get("told"):
        return None
    picture.notes["told"] = True
    return Alarm(
        f"no pixel is larger than {found.high:.2g}: they were divided by 255 twice; ToTensor has done it already",
        at=picture.record.place if isinstance(picture, Batch) else None,
        certain=False,
    )
