"""Weights that decayed below 1.2e-38 make a CPU many times slower; they are zero in all but name.

Weight decay on units that get no gradient halves them again and again until they are denormal: float32 numbers with
no leading one, which processors handle in microcode. The model is the same size, gives the same figures, and takes
five to fifty times as long on a CPU.

`torch.set_flush_denormal(True)` makes the CPU treat them as zero; `lore ckpt show` names the tensors. Better: set them
to zero before you save.
"""

ROWS = ()
SOURCES = (
    "https://github.com/pytorch/pytorch/issues/19651",
    "https://github.com/lukemelas/EfficientNet-PyTorch/issues/39",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim() -> None:
    import torch

    from torchlore.notes.proof import ailments_of

    weight = torch.randn(64, 64)
    for _ in range(1000):
        weight *= 0.91  # what a decay does to units without a gradient
    tiny = torch.finfo(torch.float32).tiny
    assert ((weight != 0) & (weight.abs() < tiny)).all()
    assert "fc.weight holds denormal" in ailments_of({"fc.weight": weight})["denormal-tensor"]
    assert ailments_of({"fc.weight": torch.where(weight.abs() < tiny, 0, weight) + torch.eye(64)}) == {}
