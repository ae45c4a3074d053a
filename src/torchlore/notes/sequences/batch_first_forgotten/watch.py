"""What a running program shows of it."""

from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Batch, Call


def watch(
    picture: Annotated[
        Call,
        "LSTM",
        "GRU",
        "RNN",
        "TransformerEncoder",
        "cross_entropy",
        "mse_loss",
        "binary_cross_entropy_with_logits",
    ]
    | Batch,
) -> Alarm | None:
    if isinstance(picture, Batch):
        picture.notes["samples"] = _samples(picture)
        return None
    if picture.group == "layer":
        given, layer = picture.argument(1, "src"), picture.owner
        layer = layer.layers[0].self_attn if picture.name == "TransformerEncoder" else layer
        sizes = tuple(given.shape) if getattr(given, "dim", int)() == 3 and not layer.batch_first else ()
        picture.notes["sizes"] = (picture.place, picture.name, sizes)
        return None
    place, name, sizes = picture.notes.pop("sizes", (None, "", ()))
    target = picture.target
    if not sizes or target is None or not target.dim() or sizes[1] < 2:
        return None
    rows = target.dim() == 2 and target.shape[1] != sizes[1]  # were the first the time, the batch would come next
    alone = rows or target.numel() == len(target)  # a few numbers for each sample, or one
    samples = len(target) if alone else picture.notes.get("samples", 0)
    if samples != sizes[0] or samples == sizes[1] or not picture.in_a_row(1 if alone else 3, true=True):
        return None
    return Alarm(
        f"{name} without batch_first takes (time, batch, features) and gets {sizes} for {samples} samples: it walks over the "
        "samples instead of the time steps; pass batch_first=True",
        at=place,
        certain=alone,
    )


def _samples(batch: Batch) -> int:
    """How many samples a batch has, where the loader itself has put them side by side along the first dimension."""
    collate: Any = getattr(batch.loader, "collate_fn", None)
    usual = getattr(collate, "__name__", "") == "default_collate" and getattr(batch.loader, "batch_size", None)
    return len(batch.tensors[0]) if usual and batch.tensors and batch.tensors[0].dim() else 0
