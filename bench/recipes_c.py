"""Speed of pictures, mixing, focal loss, cosines, frozen batch norm, samplers and scores: literal snippet, best peer, ours.

    PYTHONPATH=src python3 bench/recipes_c.py                  # CPU
    PYTHONPATH=src python3 bench/recipes_c.py --device cuda    # larger sizes, what runs on the device there

Each row first checks that ours gives the reference's result; how it is timed stands in `side_by_side.py`. Peers that
are not installed are left out.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import side_by_side
import torch
import torch.nn.functional as F
from recipes_a import forward_backward, same_gradient
from side_by_side import Row, have

from torchlore.recipes import augment, data, layers, losses, metrics, tensors


def focal(device: str) -> Row:
    samples = 64 if device == "cuda" else 4
    logits = torch.randn(samples, 1, 512, 512, device=device).requires_grad_()
    truth = (torch.rand(samples, 1, 512, 512, device=device) > 0.5).float()

    def literal(x: torch.Tensor) -> torch.Tensor:
        p = x.sigmoid()
        right = torch.where(truth == 1, p, 1 - p).clamp_min(1e-12)
        weight = torch.where(truth == 1, 0.25, 0.75)
        return (-weight * (1 - right) ** 2 * right.log()).mean()

    reference = forward_backward(literal, logits)
    ours = forward_backward(lambda x: losses.binary_focal_loss(x, truth), logits)
    peers = {}
    if have("torchvision"):
        from torchvision.ops import sigmoid_focal_loss

        peers["torchvision"] = forward_backward(lambda x: sigmoid_focal_loss(x, truth, reduction="mean"), logits)
    name = f"binary focal forward+backward {samples}x1x512x512"
    check = same_gradient(ours, reference, logits)
    return Row(name, ours, reference, peers, check, bytes_moved=5 * logits.numel() * 4)


def focal_classes(device: str) -> Row:
    rows = 8192 if device == "cuda" else 1024
    logits = torch.randn(rows, 1000, device=device).requires_grad_()
    target = torch.randint(0, 1000, (rows,), device=device)

    def literal(x: torch.Tensor) -> torch.Tensor:
        cost = F.cross_entropy(x, target, reduction="none")
        return ((1 - torch.exp(-cost)) ** 2 * cost).mean()

    reference = forward_backward(literal, logits)
    ours = forward_backward(lambda x: losses.focal_loss(x, target), logits)
    peers = {}
    if have("kornia"):
        from kornia.losses import focal_loss

        peers["kornia"] = forward_backward(
            lambda x: focal_loss(x, target, alpha=None, gamma=2.0, reduction="mean"), logits
        )
    name = f"focal over classes forward+backward {rows}x1000"
    check = same_gradient(ours, reference, logits)
    return Row(name, ours, reference, peers, check, bytes_moved=3 * logits.numel() * 4)


def mixing(device: str, kind: str) -> Row:
    samples = 256 if device == "cuda" else 32
    images = torch.rand(samples, 3, 224, 224, device=device)
    labels = torch.arange(samples, device=device) % 10
    ours = {"mixup": augment.mixup, "CutMix": augment.cutmix}[kind]

    def literal() -> torch.Tensor:
        share, order = np.random.default_rng().beta(1.0, 1.0), torch.randperm(samples, device=device)
        if kind == "mixup":
            return share * images + (1 - share) * images[order]
        side = int(224 * (1 - share) ** 0.5)
        top, left = np.random.default_rng().integers(0, 224 - side + 1, 2)
        mixed = images.clone()
        mixed[:, :, top : top + side, left : left + side] = images[order][:, :, top : top + side, left : left + side]
        return mixed

    def check() -> None:
        mixed = ours(images, labels, 1.0)
        same = (mixed.images == images).flatten(1)
        if kind == "CutMix":
            assert (same.double().mean(1) >= mixed.share - 1e-6).all()
        else:
            order = [labels.tolist().index(int(label)) for label in mixed.second]
            wanted = mixed.share[0] * images.mean((1, 2, 3))
            assert len(order) == samples
            assert bool((mixed.images.mean((1, 2, 3)) > wanted).all())

    peers = {}
    if have("torchvision"):
        from torchvision.transforms import v2

        theirs = {"mixup": v2.MixUp, "CutMix": v2.CutMix}[kind](alpha=1.0, num_classes=10)
        peers["torchvision"] = lambda: theirs(images, labels)
    if have("timm"):
        from timm.data import Mixup

        options = {"mixup_alpha": 1.0} if kind == "mixup" else {"mixup_alpha": 0.0, "cutmix_alpha": 1.0}
        mixer = Mixup(**options, num_classes=10)
        if device == "cuda":  # it puts its labels there unasked
            peers["timm"] = lambda: mixer(images.clone(), labels)
    name = f"{kind} of {samples}x3x224x224"
    return Row(name, lambda: ours(images, labels, 1.0), literal, peers, check, bytes_moved=2 * images.numel() * 4)


def pictures(_device: str) -> list[Row]:
    from PIL import Image

    picture = torch.randint(0, 256, (3, 375, 500), dtype=torch.uint8)
    image = Image.fromarray(picture.permute(1, 2, 0).numpy())
    floats = picture.float() / 255
    array = picture.permute(1, 2, 0).numpy()[::-1]

    def from_pil() -> torch.Tensor:
        return torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().float() / 255

    def to_pil() -> Image.Image:
        return Image.fromarray((floats * 255).round().byte().permute(1, 2, 0).numpy())

    def check() -> None:
        torch.testing.assert_close(tensors.from_pil(image), floats)
        assert np.array_equal(np.asarray(tensors.to_pil(floats)), np.asarray(image))
        assert torch.equal(tensors.from_numpy(array), torch.from_numpy(array.copy()))

    theirs: list[dict] = [{}, {}, {}]
    if have("torchvision"):
        from torchvision.transforms.v2 import functional as v2

        theirs = [
            {"torchvision": lambda: v2.to_dtype(v2.pil_to_tensor(image), torch.float32, scale=True).contiguous()},
            {"torchvision": lambda: v2.to_pil_image(floats)},
            {},
        ]
    return [
        Row("PIL to float tensor 500x375", lambda: tensors.from_pil(image), from_pil, theirs[0], check),
        Row("float tensor to PIL 500x375", lambda: tensors.to_pil(floats), to_pil, theirs[1]),
        Row(
            "PIL to uint8 tensor 500x375",
            lambda: tensors.from_pil(image, dtype=torch.uint8),
            lambda: torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous(),
        ),
        Row(
            "flipped NumPy array to tensor 500x375",
            lambda: tensors.from_numpy(array),
            lambda: torch.from_numpy(array.copy()),
        ),
    ]


def cosines(device: str) -> Row:
    rows = 4096 if device == "cuda" else 1000
    a, b = torch.randn(2, rows, 128, device=device)

    def literal() -> torch.Tensor:
        return F.normalize(a) @ F.normalize(b).T

    peers = {}
    if have("torchmetrics"):
        from torchmetrics.functional import pairwise_cosine_similarity

        peers["torchmetrics"] = lambda: pairwise_cosine_similarity(a, b)
    if have("sklearn") and device == "cpu":
        from sklearn.metrics.pairwise import cosine_similarity

        x, y = a.numpy(), b.numpy()
        peers["scikit-learn"] = lambda: cosine_similarity(x, y)

    def check() -> None:
        torch.testing.assert_close(tensors.pairwise_cosine(a, b), literal(), rtol=1e-4, atol=1e-5)

    name, flops = f"cosines {rows}x{rows}x128", 2 * rows * rows * 128
    ours = partial(tensors.pairwise_cosine, a, b)
    return Row(name, ours, literal, peers, check, bytes_moved=rows * rows * 4, flops=flops)


def one_hot(device: str) -> Row:
    labels = torch.randint(0, 21, (16 if device == "cuda" else 2, 256, 256), device=device)

    def literal() -> torch.Tensor:
        return F.one_hot(labels, 21).permute(0, 3, 1, 2).contiguous()

    def check() -> None:
        assert torch.equal(tensors.one_hot(labels, 21), literal())

    name = f"one-hot {len(labels)}x21x256x256"
    return Row(name, partial(tensors.one_hot, labels, 21), literal, {}, check, bytes_moved=labels.numel() * 22 * 8)


def frozen(device: str) -> Row:
    x = torch.randn(32 if device == "cuda" else 8, 64, 56, 56, device=device)
    norm = torch.nn.BatchNorm2d(64).to(device).eval()
    ours = layers.freeze_batch_norm(torch.nn.Sequential(norm))
    peers = {}
    if have("torchvision"):
        from torchvision.ops import FrozenBatchNorm2d

        theirs = FrozenBatchNorm2d(64).to(device)
        peers["torchvision"] = torch.no_grad()(lambda: theirs(x))

    def check() -> None:
        torch.testing.assert_close(ours(x), norm(x))

    name = f"frozen batch norm {'x'.join(map(str, x.shape))}"
    literal = torch.no_grad()(lambda: norm(x))
    return Row(name, torch.no_grad()(lambda: ours(x)), literal, peers, check, bytes_moved=2 * x.numel() * 4)


def samplers(_device: str) -> list[Row]:
    from torch.utils.data import WeightedRandomSampler

    labels = torch.randint(0, 100, (200_000,), generator=torch.Generator().manual_seed(0))
    counts = labels.bincount(minlength=100)
    weights = (1.0 / counts)[labels]
    balanced, pk = data.BalancedSampler(labels, 0), data.PKBatches(labels, 16, 4, 0)

    def check() -> None:
        drawn = labels[[index for _, index in balanced]].bincount(minlength=100)
        assert int(drawn.max() - drawn.min()) <= 1

    def by_hand() -> list[list[int]]:
        """The notes' metric learning: draw P classes, then K of each."""
        members = {label: (labels == label).nonzero()[:, 0] for label in range(100)}
        batches = []
        for _ in range(len(pk)):
            chosen = torch.randperm(100)[:16].tolist()
            batches.append([int(i) for c in chosen for i in members[c][torch.randint(len(members[c]), (4,))]])
        return batches

    return [
        Row(
            "balanced order of 200 k samples",
            lambda: sum(1 for _ in balanced),
            lambda: sum(1 for _ in WeightedRandomSampler(weights, len(weights))),
            check=check,
            remark="literal balances on average only",
        ),
        Row("P x K batches of 200 k samples", lambda: sum(map(len, pk)), by_hand, remark="16 x 4"),
    ]


def scores(device: str) -> list[Row]:
    rows = 100_000 if device == "cuda" else 20_000
    values, target = torch.randn(rows, 100, device=device), torch.randint(0, 100, (rows,), device=device)
    single, yes = values[:, 0].contiguous(), (target < 50).long()
    top, error, precision = {}, {}, {}
    if have("torchmetrics"):
        from torchmetrics.functional import classification as theirs

        top["torchmetrics"] = lambda: theirs.multiclass_accuracy(
            values, target, 100, top_k=5, average="micro", validate_args=False
        )
        error["torchmetrics"] = lambda: theirs.multiclass_calibration_error(values, target, 100, validate_args=False)
        precision["torchmetrics"] = lambda: theirs.binary_average_precision(single, yes, validate_args=False)
    if have("sklearn") and device == "cpu":
        from sklearn.metrics import average_precision_score

        precision["scikit-learn"] = lambda: average_precision_score(yes.numpy(), single.numpy())

    def check() -> None:
        if top:
            assert abs(float(metrics.topk_accuracy(values, target, (5,))[0]) - float(top["torchmetrics"]())) < 1e-6
            assert abs(float(metrics.average_precision(single, yes)) - float(precision["torchmetrics"]())) < 1e-5

    def literal() -> torch.Tensor:
        return (values.topk(5, 1).indices == target[:, None]).any(1).float().mean()

    return [
        Row(f"top-5 accuracy {rows}x100", lambda: metrics.topk_accuracy(values, target, (5,)), literal, top, check),
        Row(f"calibration error {rows}x100", lambda: metrics.calibration(values, target), peers=error),
        Row(f"average precision of {rows}", lambda: metrics.average_precision(single, yes), peers=precision),
    ]


PARTS = (
    focal,
    focal_classes,
    partial(mixing, kind="mixup"),
    partial(mixing, kind="CutMix"),
    pictures,
    cosines,
    one_hot,
    frozen,
    samplers,
    scores,
)


if __name__ == "__main__":
    options = side_by_side.arguments(__doc__)
    side_by_side.run([partial(make, options.device) for make in PARTS], options)
