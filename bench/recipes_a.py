"""Speed of losses, metrics, tensors, augment and layers: the notes' snippet (corrected), the best peer, ours, the floor.

    PYTHONPATH=src python3 bench/recipes_a.py --device cuda
    PYTHONPATH=src python3 bench/recipes_a.py --device cpu        # smaller sizes

Each row first checks that ours gives the reference's result on the same data; how it is timed stands in
`side_by_side.py`. `--json` adds one line of JSON.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no pool of workers beside what is timed

import side_by_side
import torch
import torch.nn.functional as F
from side_by_side import Row, have

from torchlore.recipes import augment, layers, losses, metrics, tensors

if TYPE_CHECKING:
    from collections.abc import Callable


def forward_backward(
    function: Callable[[torch.Tensor], torch.Tensor], leaf: torch.Tensor
) -> Callable[[], torch.Tensor]:
    def run() -> torch.Tensor:
        leaf.grad = None
        loss = function(leaf)
        loss.backward()
        return loss

    return run


def same_gradient(
    ours: Callable[[], torch.Tensor], reference: Callable[[], torch.Tensor], leaf: torch.Tensor
) -> Callable[[], None]:
    def check() -> None:
        a = ours().detach().clone()
        grad = leaf.grad.clone()
        b = reference().detach()
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(grad, leaf.grad, rtol=1e-3, atol=1e-6 * max(1.0, leaf.grad.abs().max().item()))

    return check


# --- region confusion ------------------------------------------------------------------------------------------------


def literal_confusion(pictures: torch.Tensor, plan: torch.Tensor) -> torch.Tensor:
    """Lists of chunks, one picture at a time, as the notes write it."""
    blocks = plan.shape[1]
    out = []
    for picture, order in zip(pictures, plan.tolist(), strict=True):
        grid = [torch.chunk(row, blocks, 2) for row in torch.chunk(picture, blocks, 1)]
        flat = [block for row in grid for block in row]
        out.append(torch.cat([torch.cat([flat[place] for place in row], 2) for row in order], 1))
    return torch.stack(out)


def gather_confusion(pictures: torch.Tensor, plan: torch.Tensor) -> torch.Tensor:
    """A batched gather of single pixels."""
    samples, channels, height, width = pictures.shape
    blocks = plan.shape[1]
    high, wide = height // blocks, width // blocks
    rows = (plan // blocks).repeat_interleave(high, 1).repeat_interleave(wide, 2) * high
    columns = (plan % blocks).repeat_interleave(high, 1).repeat_interleave(wide, 2) * wide
    rows = rows + (torch.arange(height, device=plan.device) % high)[:, None]
    columns = columns + torch.arange(width, device=plan.device) % wide
    index = (rows * width + columns).view(samples, 1, -1).expand(-1, channels, -1)
    return pictures.flatten(2).gather(2, index).view_as(pictures)


def region_confusion(device: str) -> Row:
    samples = 256 if device == "cuda" else 16
    pictures = torch.rand(samples, 3, 224, 224, device=device)
    plan = augment.region_plan(samples, 7, device=device)

    def check() -> None:
        moved = augment.apply_region_plan(pictures, plan)
        assert torch.equal(moved, gather_confusion(pictures, plan))
        assert torch.equal(moved[:2], literal_confusion(pictures[:2], plan[:2]))
        shuffled = augment.region_confusion(pictures[:4], 7)
        assert torch.equal(shuffled.flatten(1).sort(1).values, pictures[:4].flatten(1).sort(1).values)

    def fresh(move: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> Callable[[], torch.Tensor]:
        return lambda: move(pictures, augment.region_plan(samples, 7, device=device))

    peers = {"gather": fresh(gather_confusion)}
    if have("kornia") and device == "cpu":
        import kornia

        jigsaw = kornia.augmentation.RandomJigsaw((7, 7), p=1.0, ensure_perm=False)
        peers["kornia jigsaw (no neighbourhood)"] = lambda: jigsaw(pictures)
    return Row(
        f"region confusion {samples}x3x224x224, 7x7, plan drawn",
        lambda: augment.region_confusion(pictures, 7),
        fresh(literal_confusion),
        peers,
        check,
        bytes_moved=2 * pictures.numel() * 4,
        bar=0.25,
    )


# --- confusion matrix ------------------------------------------------------------------------------------------------


def confusion_matrix(device: str, number: int, classes: int, right: float) -> Row:
    truth = torch.randint(0, classes, (number,), device=device)
    called = torch.where(
        torch.rand(number, device=device) < right, truth, torch.randint(0, classes, (number,), device=device)
    )

    def bincount() -> torch.Tensor:
        return torch.bincount(truth * classes + called, minlength=classes * classes).view(classes, classes)

    def scatter() -> torch.Tensor:
        index = truth * classes + called
        zeros = torch.zeros(classes * classes, dtype=torch.int64, device=device)
        return zeros.scatter_add_(0, index, torch.ones_like(index)).view(classes, classes)

    def literal() -> list[torch.Tensor]:
        return [((truth == c) & (called == c)).sum() for c in range(classes)]

    def check() -> None:
        assert torch.equal(metrics.confusion_matrix(called, truth, classes), bincount())

    peers = {"bincount": bincount, "scatter_add": scatter}
    if have("torchmetrics"):
        from torchmetrics.functional.classification import multiclass_confusion_matrix

        peers["torchmetrics unchecked"] = lambda: multiclass_confusion_matrix(
            called, truth, classes, validate_args=False
        )
        if device == "cpu":
            peers["torchmetrics"] = lambda: multiclass_confusion_matrix(called, truth, classes)
    if have("sklearn") and device == "cpu":
        import sklearn.metrics

        peers["scikit-learn"] = lambda: sklearn.metrics.confusion_matrix(truth, called, labels=range(classes))
    stream = metrics.ConfusionMatrix(classes, device=device)
    ours = (
        (lambda: stream.update(called, truth))
        if device == "cuda"
        else lambda: metrics.confusion_matrix(called, truth, classes)
    )
    bar = 0.28 if (number, classes) == (10_000_000, 1000) else None
    name = f"confusion matrix {number / 1e6:g} M, {classes} classes, {right:.0%} right"
    slow = literal if classes <= 100 or device == "cuda" else None
    return Row(name, ours, slow, peers, check, bytes_moved=2 * number * 8, bar=bar)


# --- losses ----------------------------------------------------------------------------------------------------------


def soft_iou(device: str) -> Row:
    samples = 64 if device == "cuda" else 8
    prob = torch.rand(samples, 1, 512, 512, device=device).requires_grad_()
    truth = (torch.rand(samples, 1, 512, 512, device=device) > 0.5).float()

    def literal(p: torch.Tensor) -> torch.Tensor:
        def total(x: torch.Tensor) -> torch.Tensor:
            return x.sum(-1).sum(-1)

        above = total(truth * p) + 1e-6
        return 1 - (above / (total(truth**2) + total(p**2) - total(truth * p) + 1e-6)).mean()

    reference = forward_backward(literal, prob)
    ours = forward_backward(lambda p: losses.iou_loss(p, truth, from_logits=False), prob)
    peers = {"compiled literal": forward_backward(torch.compile(literal), prob)} if device == "cuda" else {}
    return Row(
        f"soft IoU forward+backward {samples}x1x512x512",
        ours,
        reference,
        peers,
        same_gradient(ours, reference, prob),
        bytes_moved=5 * prob.numel() * 4,
        bar=0.3,
    )


def dice(device: str) -> Row:
    samples = 64 if device == "cuda" else 8
    logits = torch.randn(samples, 1, 512, 512, device=device).requires_grad_()
    truth = (torch.rand(samples, 1, 512, 512, device=device) > 0.5).float()

    def literal(x: torch.Tensor) -> torch.Tensor:
        p = x.sigmoid()
        above = 2 * (p * truth).sum((2, 3)) + 1e-6
        return (1 - above / (p.sum((2, 3)) + truth.sum((2, 3)) + 1e-6)).mean()

    reference = forward_backward(literal, logits)
    ours = forward_backward(lambda x: losses.dice_loss(x, truth), logits)
    name = f"Dice from logits forward+backward {samples}x1x512x512"
    check = same_gradient(ours, reference, logits)
    return Row(name, ours, reference, check=check, bytes_moved=5 * logits.numel() * 4)


def label_smoothing(device: str) -> Row:
    rows = 8192 if device == "cuda" else 1024
    logits = torch.randn(rows, 1000, device=device).requires_grad_()
    target = torch.randint(0, 1000, (rows,), device=device)

    def literal(x: torch.Tensor) -> torch.Tensor:
        smooth = torch.full((rows, 1000), 0.1 / 999, device=device)
        smooth.scatter_(1, target[:, None], 0.9)
        return -(F.log_softmax(x, 1) * smooth).sum() / rows

    share = losses.convert_epsilon(0.1, 1000, to="all")
    reference = forward_backward(literal, logits)
    ours = forward_backward(lambda x: losses.label_smoothing_loss(x, target, 0.1, spread="others"), logits)
    peers = {"F.cross_entropy": forward_backward(lambda x: F.cross_entropy(x, target, label_smoothing=share), logits)}
    if have("timm"):
        from timm.loss import LabelSmoothingCrossEntropy

        peers["timm"] = forward_backward(lambda x: LabelSmoothingCrossEntropy(share)(x, target), logits)
    name = f"label smoothing forward+backward {rows}x1000"
    check = same_gradient(ours, reference, logits)
    return Row(name, ours, reference, peers, check, bytes_moved=3 * logits.numel() * 4, bar=0.35)


def l1(device: str, *, through_autograd: bool) -> Row:
    import torchvision

    net = torchvision.models.resnet50().to(device)
    parameters = list(net.parameters())

    def clear() -> None:
        for parameter in parameters:
            parameter.grad = None

    def literal() -> torch.Tensor:
        clear()
        loss = torch.zeros((), device=device)
        for parameter in parameters:
            loss = loss + parameter.abs().sum()
        loss.backward()
        return loss

    def foreach() -> torch.Tensor:
        clear()
        loss = torch.stack(torch._foreach_norm(parameters, 1)).sum()  # noqa: SLF001  # the peer
        loss.backward()
        return loss

    def penalty() -> torch.Tensor:
        clear()
        loss = losses.l1_penalty(parameters, only_weights=False)
        loss.backward()
        return loss

    grads = [torch.zeros_like(parameter) for parameter in parameters]  # those of the loss, in a real step

    def in_place() -> torch.Tensor:
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.grad = grad
        losses.add_l1_gradient_(parameters, 1.0, only_weights=False)
        with torch.no_grad():
            return losses.l1_penalty(parameters, only_weights=False)

    ours = penalty if through_autograd else in_place

    def check() -> None:
        a = ours().item()
        grads = [parameter.grad.clone() for parameter in parameters]
        assert abs(a - literal().item()) < 1e-4 * a
        torch.testing.assert_close(grads, [parameter.grad for parameter in parameters])

    total = sum(parameter.numel() for parameter in parameters)
    name = f"L1 of ResNet-50, value and gradient{', autograd' if through_autograd else ', in place'}"
    moved = (3 if through_autograd else 4) * total * 4
    return Row(name, ours, literal, {"foreach_norm": foreach}, check, bytes_moved=moved, bar=1.1)


def triplet(device: str) -> Row:
    rows = 512 if device == "cuda" else 256
    x = F.normalize(torch.randn(rows, 256, device=device)).requires_grad_()
    labels = torch.arange(rows, device=device) // 4

    def literal(x: torch.Tensor) -> torch.Tensor:
        d = ((x[:, None] - x).square().sum(2) + 1e-12).sqrt()
        same = labels[:, None] == labels
        return F.relu((d * same).amax(1) - (d + 1e9 * same).amin(1) + 0.3).mean()

    reference = forward_backward(literal, x)
    ours = forward_backward(lambda x: losses.batch_hard_triplet_loss(x, labels), x)
    name, flops = f"batch-hard triplet forward+backward {rows}x256", 3 * 2 * rows * rows * 256
    return Row(name, ours, reference, check=same_gradient(ours, reference, x), flops=flops)


# --- layers, tensors -------------------------------------------------------------------------------------------------


def literal_bilinear(x: torch.Tensor) -> torch.Tensor:
    samples, channels, height, width = x.shape
    x = x.reshape(samples, channels, height * width)
    x = torch.bmm(x, x.transpose(1, 2)) / (height * width)
    x = x.reshape(samples, channels * channels)
    x = torch.sign(x) * torch.sqrt(torch.abs(x) + 1e-5)
    return F.normalize(x)


def bilinear(device: str, precision: str) -> Row:
    shape = (128, 512, 28, 28) if device == "cuda" else (4, 256, 14, 14)
    x = torch.randn(shape, device=device).relu()
    exact = layers.bilinear_pool(x[:4].double().cpu()).float()
    limit = {"ieee": 1e-5, "tf32x3": 1e-5, "tf32": 1e-4}[precision]

    def set_precision() -> None:
        torch.set_float32_matmul_precision("highest" if precision in ("ieee", "tf32x3") else "high")

    def literal() -> torch.Tensor:
        set_precision()
        return literal_bilinear(x)

    def check() -> None:
        set_precision()
        ours = layers.bilinear_pool(x, precision=precision)
        torch.testing.assert_close(ours[:4].cpu(), exact, rtol=0, atol=limit)
        torch.testing.assert_close(ours, literal_bilinear(x), rtol=0, atol=1e-3)

    peers = {}
    if device == "cuda":
        fast = torch.compile(literal_bilinear)

        def compiled() -> torch.Tensor:
            set_precision()
            return fast(x)

        peers["compiled literal"] = compiled
    peers["einsum"] = lambda: F.normalize(
        layers.signed_sqrt(torch.einsum("nds,nes->nde", x.flatten(2), x.flatten(2)).flatten(1) / x[0, 0].numel())
    )
    bar = 0.35 if precision == "tf32" else None
    moved = x.numel() * 4 + shape[0] * shape[1] ** 2 * 4
    name = f"bilinear pooling {'x'.join(map(str, shape))} {precision}"
    return Row(
        name,
        lambda: layers.bilinear_pool(x, precision=precision),
        literal,
        peers,
        check,
        bytes_moved=moved,
        flops=shape[0] * shape[1] ** 2 * shape[2] * shape[3],  # half of it, as the product is symmetric
        bar=bar,
    )


def distances(device: str) -> Row:
    rows = 4096 if device == "cuda" else 1000
    a, b = torch.randn(2, rows, 128, device=device)

    def literal() -> torch.Tensor:
        return torch.cat([(part[:, None] - b).square().sum(2).sqrt() for part in a.split(256)])

    def check() -> None:
        torch.testing.assert_close(tensors.pairwise_euclidean(a, b, exact=False), literal(), rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(tensors.pairwise_euclidean(a, b), literal(), rtol=1e-4, atol=1e-4)

    middle = b.mean(0)
    peers = {"cdist of centred rows": lambda: torch.cdist(a - middle, b - middle)}  # without it digits are lost
    if have("sklearn") and device == "cpu":
        from sklearn.metrics.pairwise import euclidean_distances

        x, y = a.numpy(), b.numpy()
        peers["scikit-learn"] = lambda: euclidean_distances(x, y)
    ours = lambda: tensors.pairwise_euclidean(a, b, exact=False)  # noqa: E731
    name, flops = f"Euclidean distances {rows}x{rows}x128", 2 * rows * rows * 128
    return Row(name, ours, literal, peers, check, bytes_moved=rows * rows * 4, flops=flops)


def retrieval(device: str) -> Row:
    number = 2000 if device == "cuda" else 300
    generator = torch.Generator().manual_seed(0)
    query, gallery = (torch.randn(n, 64, generator=generator).to(device) for n in (number, 5 * number))
    q, g = (torch.randint(0, 50, (n,), generator=generator).to(device) for n in (number, 5 * number))

    def literal() -> float:
        scores = F.normalize(query) @ F.normalize(gallery).T
        total = 0.0
        for row, label in zip(scores, q, strict=True):
            hit = (g == label)[row.argsort(descending=True)].double()
            total += (hit * hit.cumsum(0) / torch.arange(1, len(hit) + 1, device=device)).sum() / hit.sum()
        return float(total / number)

    def check() -> None:
        ours = metrics.retrieval(query, gallery, q, g).mean_average_precision.item()
        assert abs(ours - literal()) < 1e-6

    return Row(
        f"retrieval mAP + CMC {number} x {5 * number}",
        lambda: metrics.retrieval(query, gallery, q, g),
        literal,
        check=check,
    )


def rows_for(device: str) -> list[Callable[[], Row]]:
    number = 10_000_000 if device == "cuda" else 1_000_000
    return [
        lambda: region_confusion(device),
        lambda: confusion_matrix(device, number, 1000, 0.0),
        lambda: confusion_matrix(device, number, 1000, 0.9),
        lambda: confusion_matrix(device, number, 100, 0.9),
        lambda: confusion_matrix(device, number, 21, 0.9),
        lambda: soft_iou(device),
        lambda: dice(device),
        lambda: label_smoothing(device),
        *([lambda p=p: bilinear(device, p) for p in (("ieee", "tf32x3", "tf32") if device == "cuda" else ("ieee",))]),
        lambda: l1(device, through_autograd=True),
        lambda: l1(device, through_autograd=False),
        lambda: triplet(device),
        lambda: distances(device),
        lambda: retrieval(device),
    ]


if __name__ == "__main__":
    options = side_by_side.arguments(__doc__)
    side_by_side.run(rows_for(options.device), options)
