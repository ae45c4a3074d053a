"""Mixup's two weighted losses equal one loss against soft labels, as long as classes have no weights.

Mixup trains on `lam * x + (1 - lam) * x[perm]`. Adding the two losses with the same factors is exactly the cross
entropy against the mixed one-hot labels; with class weights it is not, because each mean divides by its own weights.
Training accuracy against the hard labels means little here: a mixed picture has two right answers. `alpha=0` should
mean "no mixup", but `Beta(0, 0)` raises; and once `torch.compile` has run anywhere in the process, its checks are off
and `lam` comes out as 0.5.

Use `torchvision.transforms.v2.MixUp(alpha=0.2, num_classes=C)` on the batch, or `torchlore.recipes.augment.mixup`, and
give the soft labels to `F.cross_entropy`. Measure accuracy on clean validation data.
"""

ROWS = ("train-mixup",)
SOURCES = ("003:444-463",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch.distributions import Beta, Distribution
    from torch.nn.functional import cross_entropy, one_hot

    torch.manual_seed(0)
    x, y = torch.randn(16, 5, device=device), torch.randint(0, 3, (16,), device=device)
    lam = float(Beta(0.4, 0.4).sample())
    perm = torch.randperm(16, device=device)
    scores = (lam * x + (1 - lam) * x[perm]) @ torch.randn(5, 3, device=device)
    soft = lam * one_hot(y, 3).float() + (1 - lam) * one_hot(y[perm], 3).float()

    def two_losses(weight: torch.Tensor | None) -> torch.Tensor:
        first, second = (cross_entropy(scores, target, weight=weight) for target in (y, y[perm]))
        return lam * first + (1 - lam) * second

    assert torch.allclose(two_losses(None), cross_entropy(scores, soft), atol=1e-5)
    weight = torch.tensor([1.0, 5.0, 0.2], device=device)
    assert not torch.allclose(two_losses(weight), cross_entropy(scores, soft, weight=weight), rtol=0.02)

    Distribution.set_default_validate_args(True)  # somebody may have compiled before
    try:
        Beta(0.0, 0.0)
    except ValueError:
        pass
    else:
        raise AssertionError("Beta(0, 0) was accepted")
    Distribution.set_default_validate_args(False)  # what torch.compile does, for the whole process
    assert float(Beta(torch.tensor(0.0), torch.tensor(0.0)).sample()) == 0.5
