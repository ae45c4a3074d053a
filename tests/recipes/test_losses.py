from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import torchvision
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.utils.class_weight import compute_class_weight
from torch import nn

from torchlore.recipes import losses

SHAPES = [(6, 5), (3, 4, 7), (2, 3, 4, 5)]


def batch(shape, seed=0, ignore=None):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(*shape, generator=generator)
    target = torch.randint(0, shape[1], (shape[0], *shape[2:]), generator=generator)
    if ignore is not None:
        target.view(-1)[::3] = ignore
    return logits.requires_grad_(), target


def gradient(loss, *leaves):
    return torch.autograd.grad(loss, leaves)


# --- label smoothing -------------------------------------------------------------------------------------------------


def literal_smoothing(logits, target, epsilon):
    """The notes' way, row by row: 1 - epsilon on the true class, epsilon / (C - 1) elsewhere."""
    rows, classes = logits.shape
    smooth = torch.full((rows, classes), epsilon / (classes - 1))
    smooth.scatter_(1, target[:, None], 1 - epsilon)
    return -(F.log_softmax(logits, 1) * smooth).sum() / rows


@pytest.mark.parametrize("classes", [2, 3, 10, 1000])
def test_spread_others_is_the_literal_of_the_notes(classes):
    logits, target = batch((8, classes))
    ours = losses.label_smoothing_loss(logits, target, 0.1, spread="others")
    theirs = literal_smoothing(logits, target, 0.1)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient(ours, logits), gradient(theirs, logits))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_spread_all_is_torchs(shape, reduction, weighted):
    logits, target = batch(shape, ignore=-100)
    weight = torch.linspace(0.5, 2, shape[1]) if weighted else None
    ours = losses.label_smoothing_loss(logits, target, 0.2, weight=weight, reduction=reduction)
    theirs = F.cross_entropy(logits, target, weight, label_smoothing=0.2, reduction=reduction)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient(ours.sum(), logits), gradient(theirs.sum(), logits))


@given(classes=st.integers(2, 40), part=st.floats(0, 1))
@example(classes=29, part=1.0)
@settings(deadline=None, max_examples=50)
def test_the_two_definitions_meet_at_the_converted_epsilon(classes, part):
    epsilon = part * (classes - 1) / classes
    logits, target = batch((4, classes))
    other = losses.convert_epsilon(epsilon, classes, to="all")
    assert losses.convert_epsilon(other, classes, to="others") == pytest.approx(epsilon)
    torch.testing.assert_close(
        losses.label_smoothing_loss(logits, target, epsilon, spread="others"),
        losses.label_smoothing_loss(logits, target, min(other, 1.0), spread="all"),
    )
    for spread, value in (("others", epsilon), ("all", min(other, 1.0))):
        smooth = losses.smooth_labels(target, classes, value, spread=spread)
        torch.testing.assert_close(smooth.sum(1), torch.ones(4))
        torch.testing.assert_close(
            losses.soft_cross_entropy(logits, smooth), losses.label_smoothing_loss(logits, target, value, spread=spread)
        )


def test_smooth_labels_of_pixels_with_ignored_ones():
    target = torch.tensor([[[0, 255], [1, 2]]])
    smooth = losses.smooth_labels(target, 3, 0.3, ignore_index=255)
    assert smooth.shape == (1, 3, 2, 2)
    torch.testing.assert_close(smooth.sum(1), torch.tensor([[[1.0, 0.0], [1.0, 1.0]]]))


def test_a_batch_in_which_all_is_ignored_costs_zero_with_zero_gradient():
    logits, _ = batch((3, 4))
    target = torch.full((3,), 255)
    loss = losses.label_smoothing_loss(logits, target, ignore_index=255)
    assert loss.item() == 0
    assert gradient(loss, logits)[0].abs().sum() == 0
    weighted = losses.label_smoothing_loss(logits, target, ignore_index=255, weight=torch.ones(4))
    assert weighted.item() == 0
    assert losses.focal_loss(logits, target, ignore_index=255).item() == 0
    assert losses.mixed_loss(logits, target, target, 0.5, ignore_index=255).item() == 0
    assert losses.multiclass_iou_loss(logits[:, :, None], target[:, None], ignore_index=255).item() == 0


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_labels_may_be_any_integers(dtype):
    logits, target = batch((6, 5))
    assert losses.label_smoothing_loss(logits, target.to(dtype)) == losses.label_smoothing_loss(logits, target)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, y: losses.label_smoothing_loss(x, y, reduction="avg"), "'avg'; it must be one of 'mean'"),
        (lambda x, y: losses.label_smoothing_loss(x, y, spread="every"), "spread is 'every'"),
        (lambda x, y: losses.label_smoothing_loss(x, y + 9), "but there are 5 classes"),
        (
            lambda x, y: losses.label_smoothing_loss(x, y[:, None]),
            r"target has shape \(6, 1\) for logits of shape \(6, 5\)",
        ),
        (lambda x, y: losses.label_smoothing_loss(x, y, 1.5), "epsilon is 1.5"),
        (lambda x, y: losses.label_smoothing_loss(x, y, 0.9, spread="others"), "between 0 and 0.8"),
        (lambda x, y: losses.convert_epsilon(0.1, 1, to="all"), "at least 2"),
        (lambda x, y: losses.mixed_loss(x, y, y, 1.5), "between 0 and 1"),
        (lambda x, y: losses.mixed_loss(x, y, y, torch.ones(3)), "one for each of the 6 samples"),
        (lambda x, y: losses.focal_loss(x, y, -1.0), "gamma is -1.0"),
        (losses.soft_cross_entropy, "they must be equal"),
        (lambda x, y: losses.class_weights([0, 0]), "not all 0"),
        (lambda x, y: losses.class_weights([1, 2], scheme="effective", beta=1.0), "beta is 1.0"),
        (lambda x, y: losses.l1_penalty(iter([])), "no parameter is left"),
        (lambda x, y: losses.shrink_([x], -1.0), "amount is -1.0"),
        (lambda x, y: losses.batch_hard_triplet_loss(x, y[:2]), r"must be \(N, D\) and \(N,\)"),
        (lambda x, y: losses.info_nce_loss(x, x[:2]), "they must be equal"),
        (lambda x, y: losses.supervised_contrastive_loss(x, y, 0.0), "temperature is 0.0"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    logits, target = batch((6, 5))
    with pytest.raises(ValueError, match=words):
        call(logits, target)


def test_wrong_dtypes_are_named():
    logits, target = batch((6, 5))
    with pytest.raises(TypeError, match=r"target has dtype torch.float32"):
        losses.focal_loss(logits, target.float())
    with pytest.raises(TypeError, match=r"logits has dtype torch.int64"):
        losses.label_smoothing_loss(torch.ones(6, 5, dtype=torch.int64), target)


# --- mixed labels ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_mixed_loss_is_cross_entropy_to_the_mixed_labels(shape):
    logits, first = batch(shape)
    _, second = batch(shape, seed=1)
    for share in (0.3, torch.linspace(0, 1, shape[0])):
        part = torch.as_tensor(share).expand(shape[0]).view(-1, *[1] * (len(shape) - 1))
        soft = part * losses.smooth_labels(first, shape[1], 0.0) + (1 - part) * losses.smooth_labels(
            second, shape[1], 0.0
        )
        ours = losses.mixed_loss(logits, first, second, share)
        torch.testing.assert_close(ours, F.cross_entropy(logits, soft))
        weight = torch.linspace(0.5, 3, shape[1])
        torch.testing.assert_close(
            losses.mixed_loss(logits, first, second, share, weight=weight),
            losses.soft_cross_entropy(logits, soft, weight=weight),
        )


def test_mixed_loss_with_share_one_is_plain_cross_entropy():
    logits, target = batch((6, 5), ignore=-100)
    weight = torch.linspace(0.5, 3, 5)
    torch.testing.assert_close(
        losses.mixed_loss(logits, target, target.flip(0), 1.0, weight=weight, epsilon=0.1),
        F.cross_entropy(logits, target, weight, label_smoothing=0.1),
    )


def test_soft_cross_entropy_of_hard_labels_is_torchs_weighted_mean():
    logits, target = batch((6, 5), ignore=-100)
    weight = torch.linspace(0.5, 3, 5)
    hard = losses.smooth_labels(target, 5, 0.0, ignore_index=-100)
    torch.testing.assert_close(
        losses.soft_cross_entropy(logits, hard, weight=weight), F.cross_entropy(logits, target, weight)
    )


# --- focal -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("alpha", [0.25, None])
def test_binary_focal_is_torchvisions(reduction, alpha):
    logits = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    target = (torch.rand(4, 3, generator=torch.Generator().manual_seed(1)) > 0.5).float()
    ours = losses.binary_focal_loss(logits, target, alpha=alpha, reduction=reduction)
    theirs = torchvision.ops.sigmoid_focal_loss(
        logits, target, alpha=-1 if alpha is None else alpha, reduction=reduction
    )
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient(ours.sum(), logits), gradient(theirs.sum(), logits))


def test_focal_with_gamma_zero_is_cross_entropy():
    logits, target = batch((2, 3, 4, 5), ignore=255)
    torch.testing.assert_close(
        losses.focal_loss(logits, target, 0.0, ignore_index=255), F.cross_entropy(logits, target, ignore_index=255)
    )


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_focal_is_the_formula_and_finite_when_sure(gamma):
    logits, target = batch((6, 5))
    p = logits.softmax(1).gather(1, target[:, None])[:, 0]
    torch.testing.assert_close(losses.focal_loss(logits, target, gamma), (-((1 - p) ** gamma) * p.log()).mean())
    sure = torch.tensor([[300.0, 0.0], [-300.0, 0.0]], requires_grad=True)
    loss = losses.focal_loss(sure, torch.tensor([0, 0]), gamma)
    assert gradient(loss, sure)[0].isfinite().all()


def test_binary_focal_ignores():
    logits = torch.tensor([[1.0, -2.0]], requires_grad=True)
    loss = losses.binary_focal_loss(logits, torch.tensor([[1, 255]]), ignore_index=255)
    torch.testing.assert_close(loss, losses.binary_focal_loss(logits[:, :1], torch.tensor([[1]])))
    assert gradient(loss, logits)[0][0, 1] == 0


# --- overlap ---------------------------------------------------------------------------------------------------------


def literal_iou(p, t, eps=1e-6):
    def total(x):
        return x.sum(-1).sum(-1)

    above = total(t * p) + eps
    return 1 - (above / (total(t**2) + total(p**2) - total(t * p) + eps)).mean()


def test_iou_is_the_notes_formula():
    p = torch.rand(3, 2, 8, 9, generator=torch.Generator().manual_seed(0), requires_grad=True)
    t = (torch.rand(3, 2, 8, 9, generator=torch.Generator().manual_seed(1)) > 0.6).float()
    ours, theirs = losses.iou_loss(p, t, from_logits=False), literal_iou(p, t)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient(ours, p), gradient(theirs, p))


@pytest.mark.parametrize("form", ["squared", "linear"])
@given(seed=st.integers(0, 10_000), shape=st.sampled_from([(2, 9), (2, 3, 4), (2, 3, 4, 5), (1, 2, 2, 3, 2)]))
@settings(deadline=None, max_examples=30)
def test_on_hard_masks_the_losses_are_one_minus_iou_and_dice(form, seed, shape):
    generator = torch.Generator().manual_seed(seed)
    p, t = (torch.rand(2, *shape, generator=generator) > 0.5).float()
    dims = tuple(range(1 if len(shape) <= 3 else 2, len(shape)))
    both, any_ = (p * t).sum(dims), ((p + t) > 0).sum(dims)
    iou = torch.where(any_ > 0, both / any_.clamp_min(1), 1.0)
    rows = losses.iou_loss(p, t, from_logits=False, form=form, reduction="none")
    torch.testing.assert_close(rows, 1 - iou, atol=1e-5, rtol=0)
    dice = losses.dice_loss(p, t, from_logits=False, form=form, reduction="none")
    torch.testing.assert_close(dice, 1 - 2 * iou / (1 + iou), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        losses.tversky_loss(p, t, 1, 1, from_logits=False, reduction="none"), rows, atol=1e-5, rtol=0
    )


def test_iou_edge_cases_of_the_errata():
    mask = torch.zeros(2, 1, 4, 4)
    mask[0, 0, :2] = 1
    with pytest.raises(ValueError, match=r"\(2, 1, 4, 4\) and targets \(2, 4, 4\)"):
        losses.iou_loss(mask, mask[:, 0])
    with pytest.raises(ValueError, match="scores run from 0 to 10"):
        losses.iou_loss(mask * 10, mask, from_logits=False)
    with pytest.raises(ValueError, match="targets run from 0 to 255"):
        losses.iou_loss(mask, mask * 255)
    with pytest.raises(ValueError, match="eps is 0"):
        losses.iou_loss(mask, mask, eps=0)
    assert losses.iou_loss(mask, mask, from_logits=False).item() == 0  # one mask is empty
    sure = torch.where(mask > 0, 20.0, -20.0)
    assert losses.iou_loss(sure, (mask * 255).to(torch.uint8)).item() < 1e-6
    assert losses.iou_loss(sure, mask.bool()).item() < 1e-6


def test_iou_ignores_and_skips():
    scores = torch.randn(3, 10, generator=torch.Generator().manual_seed(0), requires_grad=True)
    target = torch.zeros(3, 10, dtype=torch.uint8)
    target[0, :4], target[1, 2:6], target[:, 7:] = 1, 1, 255
    loss = losses.iou_loss(scores, target, ignore_index=255)
    torch.testing.assert_close(loss, losses.iou_loss(scores[:, :7], target[:, :7]))
    assert gradient(loss, scores)[0][:, 7:].abs().sum() == 0
    skipped = losses.iou_loss(scores, target, ignore_index=255, empty="skip")
    torch.testing.assert_close(skipped, losses.iou_loss(scores[:2, :7], target[:2, :7]))
    empty = losses.iou_loss(scores, torch.zeros_like(target), empty="skip")
    assert empty.item() == 0


def literal_multiclass(scores, labels, ignore, kind):
    p = scores.softmax(1)
    rows = []
    for n in range(scores.shape[0]):
        keep = labels[n] != ignore
        for c in labels[n][keep].unique().tolist():
            x, t = p[n, c][keep], (labels[n][keep] == c).float()
            inter = (x * t).sum()
            if kind == "iou":
                rows.append(1 - (inter + 1e-6) / ((x * x).sum() + t.sum() - inter + 1e-6))
            else:
                rows.append(1 - (2 * inter + 1e-6) / (x.sum() + t.sum() + 1e-6))
    return torch.stack(rows).mean()


@pytest.mark.parametrize("ignore", [-100, 255])
def test_multiclass_overlap_is_the_slow_loop(ignore):
    scores, labels = batch((2, 4, 5, 6), ignore=ignore)
    labels[labels == 3] = 0
    for function, kind in ((losses.multiclass_iou_loss, "iou"), (losses.multiclass_dice_loss, "dice")):
        ours, theirs = function(scores, labels, ignore_index=ignore), literal_multiclass(scores, labels, ignore, kind)
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(gradient(ours, scores), gradient(theirs, scores))
    assert losses.multiclass_iou_loss(scores, labels, ignore_index=ignore, classes="all") > ours
    assert losses.multiclass_iou_loss(scores, labels, ignore_index=ignore, reduction="none").shape == (2, 4)


# --- L1, class weights -----------------------------------------------------------------------------------------------


def test_l1_is_the_loop():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 2))
    with torch.no_grad():
        net[0].weight[0] = 0
    loop = sum(p.abs().sum() for p in net.parameters())
    ours = losses.l1_penalty(net.parameters(), only_weights=False)
    torch.testing.assert_close(ours, loop)
    leaves = list(net.parameters())
    torch.testing.assert_close(gradient(0.1 * ours, *leaves), gradient(0.1 * loop, *leaves))
    weights = [net[0].weight, net[2].weight]
    torch.testing.assert_close(losses.l1_penalty(net.parameters()), sum(w.abs().sum() for w in weights))


def test_l1_gradient_added_by_hand_equals_that_of_the_penalty():
    net = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2))
    other, x = copy.deepcopy(net), torch.randn(3, 5)
    (net(x).sum() + 0.01 * losses.l1_penalty(net.parameters())).backward()
    other(x).sum().backward()
    losses.add_l1_gradient_(other.parameters(), 0.01)
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad)
    with pytest.raises(ValueError, match=r"after loss\.backward"):
        losses.add_l1_gradient_(nn.Linear(2, 2).parameters(), 0.1)


def test_l1_of_half_parameters_does_not_overflow():
    weight = torch.full((300, 300), 2.0, dtype=torch.float16, requires_grad=True)
    penalty = losses.l1_penalty([weight])
    assert penalty.item() == 180_000
    assert gradient(penalty, weight)[0].dtype == torch.float16


def test_shrink_reaches_exact_zero_where_gradient_steps_do_not():
    weight = nn.Parameter(torch.linspace(-1, 1, 100).view(10, 10))
    losses.shrink_([weight], 0.5)
    assert (weight == 0).sum() == 50
    assert weight.abs().max().item() == pytest.approx(0.5)


def test_class_weights_are_scikit_learns():
    labels = np.repeat([0, 1, 2], [50, 30, 5])
    ours = losses.class_weights(np.bincount(labels))
    np.testing.assert_allclose(ours, compute_class_weight("balanced", classes=np.arange(3), y=labels), rtol=1e-6)


@pytest.mark.parametrize("scheme", ["inverse", "sqrt", "effective"])
@given(counts=st.lists(st.integers(0, 10_000), min_size=1, max_size=9).filter(any))
@settings(deadline=None, max_examples=40)
def test_class_weights_average_one_over_the_samples(scheme, counts):
    number = torch.tensor(counts)
    weights = losses.class_weights(number, scheme=scheme)
    assert (weights * number).sum().item() == pytest.approx(number.sum().item(), rel=1e-4)
    assert bool((weights[number == 0] == 0).all())


# --- metric learning -------------------------------------------------------------------------------------------------


def slow_batch_hard(x, labels, margin):
    rows = []
    for i in range(len(x)):
        d = (x - x[i]).square().sum(1).clamp_min(1e-30).sqrt()
        positive = [d[j] for j in range(len(x)) if labels[j] == labels[i] and j != i]
        negative = [d[j] for j in range(len(x)) if labels[j] != labels[i]]
        if positive and negative:
            gap = max(positive) - min(negative)
            rows.append(F.softplus(gap) if margin is None else F.relu(gap + margin))
    return torch.stack(rows).mean()


@pytest.mark.parametrize("margin", [0.3, None])
def test_batch_hard_is_the_slow_loop(margin):
    x = torch.randn(9, 4, generator=torch.Generator().manual_seed(0), requires_grad=True)
    labels = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 3])
    ours, theirs = losses.batch_hard_triplet_loss(x, labels, margin), slow_batch_hard(x, labels, margin)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradient(ours, x), gradient(theirs, x))


@pytest.mark.parametrize(
    "function",
    [
        losses.batch_hard_triplet_loss,
        losses.batch_all_triplet_loss,
        losses.contrastive_loss,
        losses.supervised_contrastive_loss,
    ],
)
@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 1]])
def test_equal_embeddings_and_batches_without_triplets_give_finite_gradients(function, labels):
    x = torch.ones(4, 3, requires_grad=True)
    loss = function(x, torch.tensor(labels))
    assert loss.isfinite()
    assert gradient(loss, x)[0].isfinite().all()


def test_batch_all_is_the_slow_loop():
    x = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 0, 1, 1, 1, 2])
    d = torch.cdist(x, x)
    costs = [
        max(0.0, (d[a, p] - d[a, n] + 0.3).item())
        for a in range(6)
        for p in range(6)
        for n in range(6)
        if a != p and labels[a] == labels[p] and labels[a] != labels[n]
    ]
    costs = [cost for cost in costs if cost > 0]
    assert losses.batch_all_triplet_loss(x, labels).item() == pytest.approx(sum(costs) / len(costs), rel=1e-5)


def test_info_nce_and_supervised_contrast_agree_on_pairs():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 5, 8, generator=generator)
    logits = F.normalize(a) @ F.normalize(b).T / 0.2
    expected = (F.cross_entropy(logits, torch.arange(5)) + F.cross_entropy(logits.T, torch.arange(5))) / 2
    torch.testing.assert_close(losses.info_nce_loss(a, b, 0.2), expected)
    both, labels = torch.cat([a, b]), torch.arange(5).repeat(2)
    sims = F.normalize(both) @ F.normalize(both).T / 0.2
    sims.fill_diagonal_(-torch.inf)
    nt_xent = F.cross_entropy(sims, (torch.arange(10) + 5) % 10)
    torch.testing.assert_close(losses.supervised_contrastive_loss(both, labels, 0.2), nt_xent)


def test_angular_margin():
    x, centers = torch.randn(2, 4, 6, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 1, 2, 3])
    cosine = F.normalize(x) @ F.normalize(centers).T
    hot = F.one_hot(labels, 4).bool()
    ours = losses.angular_margin_logits(x, centers, labels, margin=0.3, scale=10)
    torch.testing.assert_close(ours[~hot], 10 * cosine[~hot])
    torch.testing.assert_close(ours[hot], 10 * torch.cos(torch.acos(cosine[hot]) + 0.3))
    torch.testing.assert_close(
        losses.angular_margin_logits(x, centers, labels, margin=0.0, scale=1.0), cosine, atol=1e-5, rtol=1e-5
    )
    same = torch.eye(2, requires_grad=True)
    logits = losses.angular_margin_logits(same, torch.eye(2), torch.tensor([0, 1]))
    assert gradient(logits.sum(), same)[0].isfinite().all()


# --- every loss: compile, autocast, layout ---------------------------------------------------------------------------

X, Y = torch.randn(4, 3, 6, 6, generator=torch.Generator().manual_seed(5)), torch.arange(144).view(4, 6, 6) % 3
Z, L = X.flatten(1), torch.tensor([0, 0, 1, 1])
EVERY = {
    "label_smoothing": (lambda x: losses.label_smoothing_loss(x, Y, spread="others", ignore_index=2), X),
    "soft_cross_entropy": (lambda x: losses.soft_cross_entropy(x, losses.smooth_labels(Y, 3)), X),
    "mixed": (lambda x: losses.mixed_loss(x, Y, Y.flip(0), 0.3), X),
    "focal": (lambda x: losses.focal_loss(x, Y), X),
    "binary_focal": (lambda x: losses.binary_focal_loss(x, (X > 0).long()), X),
    "iou": (lambda x: losses.iou_loss(x, (X > 0).long(), ignore_index=7), X),
    "dice": (lambda x: losses.dice_loss(x, (X > 0).float()), X),
    "tversky": (lambda x: losses.tversky_loss(x, X > 0), X),
    "multiclass_iou": (lambda x: losses.multiclass_iou_loss(x, Y), X),
    "multiclass_dice": (lambda x: losses.multiclass_dice_loss(x, Y), X),
    "l1": (lambda x: losses.l1_penalty([x], only_weights=False), X),
    "batch_hard": (lambda x: losses.batch_hard_triplet_loss(x, L), Z),
    "batch_all": (lambda x: losses.batch_all_triplet_loss(x, L, distance="cosine"), Z),
    "contrastive": (lambda x: losses.contrastive_loss(x, L), Z),
    "supcon": (lambda x: losses.supervised_contrastive_loss(x, L), Z),
    "info_nce": (lambda x: losses.info_nce_loss(x, Z.flip(0)), Z),
    "margin": (lambda x: losses.angular_margin_logits(x, Z[:2], L).mean(), Z),
    "center": (lambda x: losses.center_loss(x, L, Z[:2]), Z),
}


@pytest.mark.parametrize("name", EVERY)
def test_compiles_whole_and_gives_the_same(name):
    function, value = EVERY[name]
    plain, fast = value.clone().requires_grad_(), value.clone().requires_grad_()
    expected = function(plain)
    loss = torch.compile(function, fullgraph=True, backend="aot_eager")(fast)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(gradient(loss, fast), gradient(expected, plain))


@pytest.mark.parametrize("name", EVERY)
def test_half_precision_and_autocast_give_a_float32_loss(name):
    function, value = EVERY[name]
    half = value.to(torch.bfloat16)
    expected = function(half.float())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = function(half.clone().requires_grad_())
        full = function(value)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(full, function(value), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", EVERY)
def test_layout_does_not_matter(name):
    function, value = EVERY[name]
    expected = function(value)
    wide = torch.stack([value, torch.full_like(value, 9.0)], -1)[..., 0]
    assert not wide.is_contiguous()
    torch.testing.assert_close(function(wide), expected)
    if value.ndim == 4:
        torch.testing.assert_close(function(value.to(memory_format=torch.channels_last)), expected)


@pytest.mark.parametrize(
    "function", [losses.batch_hard_triplet_loss, losses.contrastive_loss, losses.supervised_contrastive_loss]
)
def test_gradients_are_right_numerically(function):
    x = Z[:, :5].double().requires_grad_()
    assert torch.autograd.gradcheck(lambda value: function(value, L), (x,), atol=1e-4)


def test_second_derivatives_are_right():
    x, y = X.flatten(1)[:, :4].double().requires_grad_(), torch.tensor([0, 3, 1, -100])
    assert torch.autograd.gradgradcheck(lambda value: losses.label_smoothing_loss(value, y), (x,))
    mask = torch.arange(16.0).view(4, 4) % 2
    for form in ("squared", "linear"):
        assert torch.autograd.gradgradcheck(lambda value, form=form: losses.iou_loss(value, mask, form=form), (x,))
