from __future__ import annotations

import csv
import warnings

import numpy as np
import pytest
import sklearn.metrics
import torch
import torchmetrics.functional.classification as tm
from hypothesis import given, settings
from hypothesis import strategies as st

from torchlore.recipes import metrics

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


def labels(count=200, classes=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, classes, (2, count), generator=generator)


@given(pairs=LABELS)
@settings(deadline=None, max_examples=60)
def test_matrix_and_scores_are_scikit_learns(pairs):
    truth, called = np.array(pairs).T
    matrix = metrics.confusion_matrix(torch.tensor(called), torch.tensor(truth), 5)
    np.testing.assert_array_equal(matrix, sklearn.metrics.confusion_matrix(truth, called, labels=range(5)))
    assert matrix.sum() == len(pairs)
    for average in (None, "micro", "macro", "weighted"):
        ours = metrics.precision_recall_f1(matrix, average)
        theirs = sklearn.metrics.precision_recall_fscore_support(
            truth, called, labels=None if average else range(5), average=average, zero_division=0
        )
        for a, b in zip(ours[:3], theirs[:3], strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
    seen = np.union1d(truth, called)
    jaccard = sklearn.metrics.jaccard_score(truth, called, labels=range(5), average=None, zero_division=0)
    np.testing.assert_allclose(metrics.iou(matrix), jaccard, atol=1e-12)
    assert metrics.iou(matrix, "macro").item() == pytest.approx(jaccard[seen].mean())


def test_a_class_never_predicted_gives_the_value_asked_for_without_a_warning():
    matrix = torch.tensor([[3, 0, 0], [2, 0, 0], [0, 0, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = metrics.precision_recall_f1(matrix, zero_division=0.5)
    assert scores.precision.tolist() == [0.6, 0.5, 0.5]
    assert scores.recall.tolist() == [1.0, 0.0, 0.5]
    assert metrics.iou(matrix, absent=1.0).tolist() == [0.6, 0.0, 1.0]
    assert metrics.iou(matrix, "macro").item() == pytest.approx(0.3)
    assert metrics.iou(torch.zeros(2, 2), "macro").item() == 0


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
@pytest.mark.parametrize("classes", [1, 2, 7, 300])
def test_streaming_is_the_whole_at_once(dtype, classes):
    truth, called = labels(500, min(classes, 200)).to(dtype)
    stream = metrics.ConfusionMatrix(classes)
    other = metrics.ConfusionMatrix(classes)
    for i, start in enumerate(range(0, 500, 64)):
        (stream, other)[i % 2].update(called[start : start + 64], truth[start : start + 64])
    stream.merge(other)
    stream.sync()
    whole = metrics.confusion_matrix(called, truth, classes)
    assert torch.equal(stream.compute(), whole)
    slow = np.zeros((classes, classes), dtype=int)
    np.add.at(slow, (truth.numpy().astype(int), called.numpy().astype(int)), 1)
    np.testing.assert_array_equal(whole, slow)
    stream.reset()
    assert stream.compute().sum() == 0


def test_matrix_takes_scores_and_pixels_and_ignores():
    scores = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(0))
    truth = labels(40, 3)[0].view(2, 4, 5)
    truth[0, 0] = 255
    ours = metrics.confusion_matrix(scores, truth, 3, ignore_index=255)
    theirs = tm.multiclass_confusion_matrix(scores, truth, 3, ignore_index=255)
    assert torch.equal(ours, theirs)
    assert ours.sum() == 35
    swapped = scores.to(memory_format=torch.channels_last)
    assert torch.equal(metrics.confusion_matrix(swapped, truth, 3, ignore_index=255), ours)


def test_ignore_index_may_be_a_class():
    truth, called = torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1])
    assert metrics.confusion_matrix(called, truth, 2, ignore_index=0).tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("called", "truth"),
    [([0, 5], [0, 0]), ([0, 0], [0, 2]), ([0, -1], [0, 0]), ([0, 0], [-100, 0]), ([2**40, 0], [0, 0])],
)
def test_labels_out_of_range_raise_and_are_never_dropped(called, truth):
    called, truth = torch.tensor(called), torch.tensor(truth)
    with pytest.raises(ValueError, match="1 pairs hold a label outside 0 to 1"):
        metrics.confusion_matrix(called, truth, 2)
    stream = metrics.ConfusionMatrix(2)
    stream.update(called, truth)
    with pytest.raises(ValueError, match="1 pairs hold a label outside"):
        stream.compute()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda y: metrics.accuracy(y, y[:, None]), ValueError, r"prediction has shape \(4,\) and target \(4, 1\)"),
        (lambda y: metrics.accuracy(y.float(), y), TypeError, "it must hold integer labels"),
        (lambda y: metrics.accuracy(y, y.float()), TypeError, "target has dtype torch.float32"),
        (lambda y: metrics.confusion_matrix(y, y, 0), ValueError, "num_classes is 0"),
        (lambda y: metrics.topk_accuracy(torch.rand(4, 3), y[:2]), ValueError, r"must be \(N, C, ...\)"),
        (lambda y: metrics.topk_accuracy(torch.rand(4, 3), y, k=(0,)), ValueError, r"k is \(0,\)"),
        (lambda y: metrics.iou(torch.ones(2, 3)), ValueError, r"must be \(C, C\)"),
        (lambda y: metrics.iou(torch.ones(2, 2), "micro"), ValueError, "average is 'micro'"),
        (lambda y: metrics.average_precision(torch.rand(4), y[:2]), ValueError, "they must be equal"),
        (lambda y: metrics.calibration(torch.rand(4, 3), y, bins=0), ValueError, "bins is 0"),
        (lambda y: metrics.retrieval(torch.rand(4, 2), torch.rand(3, 2), y, y), ValueError, "gallery_labels has shape"),
        (lambda y: metrics.report_rows(torch.ones(3, 3), ["a"]), ValueError, "for 3 classes; give one for each"),
        (lambda y: metrics.ConfusionMatrix(2).merge(metrics.ConfusionMatrix(3)), ValueError, "3 classes cannot"),
    ],
)
def test_wrong_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(torch.tensor([0, 1, 2, 0]))


def test_accuracy():
    truth, called = labels()
    assert metrics.accuracy(called, truth).item() == pytest.approx(sklearn.metrics.accuracy_score(truth, called))
    assert metrics.accuracy(torch.empty(0, 3), torch.empty(0, dtype=torch.long)).item() == 0
    keep = truth != 2
    assert metrics.accuracy(called, truth, ignore_index=2) == metrics.accuracy(called[keep], truth[keep])


def test_topk_is_scikit_learns():
    scores = torch.randn(50, 7, generator=torch.Generator().manual_seed(0))
    truth = torch.randint(0, 7, (50,), generator=torch.Generator().manual_seed(1))
    for k, ours in zip((1, 3, 5), metrics.topk_accuracy(scores, truth, (1, 3, 5)), strict=True):
        assert ours.item() == pytest.approx(sklearn.metrics.top_k_accuracy_score(truth, scores, k=k, labels=range(7)))
    assert metrics.topk_accuracy(scores, truth, (99,))[0].item() == 1
    scores[0, truth[0]] = torch.nan
    assert metrics.topk_accuracy(scores, truth, (99,))[0].item() == pytest.approx(49 / 50)
    pixels = scores[1:].T.reshape(1, 7, 7, 7)
    assert metrics.topk_accuracy(pixels, truth[1:].view(1, 7, 7), (3,)) == metrics.topk_accuracy(
        scores[1:], truth[1:], (3,)
    )


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=40))
@settings(deadline=None, max_examples=60)
def test_average_precision_is_scikit_learns_also_with_ties(pairs):
    scores, truth = torch.tensor([float(s) for s, _ in pairs]), torch.tensor([int(t) for _, t in pairs])
    ours = metrics.average_precision(scores, truth).item()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns where there is no positive; it says 0 as we do
        theirs = sklearn.metrics.average_precision_score(truth, scores) if truth.any() else 0.0
    assert ours == pytest.approx(theirs)


def test_mean_average_precision():
    scores = torch.rand(40, 4, generator=torch.Generator().manual_seed(0))
    truth = torch.randint(0, 3, (40,), generator=torch.Generator().manual_seed(1))
    each = [sklearn.metrics.average_precision_score(truth == c, scores[:, c]) for c in range(3)]
    assert metrics.mean_average_precision(scores, truth).item() == pytest.approx(np.mean(each))
    many = torch.rand(40, 4, generator=torch.Generator().manual_seed(2)) > 0.5
    theirs = sklearn.metrics.average_precision_score(many, scores, average="macro")
    assert metrics.mean_average_precision(scores, many).item() == pytest.approx(theirs)


def slow_retrieval(query, gallery, q, g, cameras, depth):
    precisions, curve = [], np.zeros(depth)
    for i in range(len(query)):
        d = 1 - torch.nn.functional.cosine_similarity(query[i : i + 1], gallery)
        entries = [
            j
            for j in torch.argsort(d, stable=True).tolist()
            if cameras is None or g[j] != q[i] or cameras[0][i] != cameras[1][j]
        ]
        right = [g[j] == q[i] for j in entries]
        if not any(right):
            continue
        hits = np.cumsum(right)
        precisions.append(np.mean([hits[k] / (k + 1) for k, r in enumerate(right) if r]))
        curve[right.index(True) :] += 1
    return np.mean(precisions), curve / len(precisions), len(precisions)


@pytest.mark.parametrize("with_cameras", [False, True])
@pytest.mark.parametrize("rows", [1, 4, 256])
def test_retrieval_is_the_slow_loop(with_cameras, rows):
    generator = torch.Generator().manual_seed(0)
    query, gallery = torch.randn(9, 4, generator=generator), torch.randn(30, 4, generator=generator)
    q, g = torch.randint(0, 6, (9,), generator=generator), torch.randint(0, 5, (30,), generator=generator)
    q[0] = 99
    cameras = tuple(torch.randint(0, 2, (n,), generator=generator) for n in (9, 30)) if with_cameras else None
    ours = metrics.retrieval(query, gallery, q, g, cameras=cameras, max_rank=10, rows=rows)
    mean, curve, count = slow_retrieval(query, gallery, q.tolist(), g.tolist(), cameras, 10)
    assert ours.mean_average_precision.item() == pytest.approx(mean)
    np.testing.assert_allclose(ours.cmc, curve)
    assert ours.queries == count < 9


def test_retrieval_without_any_match_is_zero():
    found = metrics.retrieval(torch.rand(2, 3), torch.rand(4, 3), torch.tensor([8, 9]), torch.zeros(4))
    assert (found.mean_average_precision.item(), found.queries) == (0.0, 0)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_calibration_is_torchmetrics(norm):
    scores = torch.randn(300, 4, generator=torch.Generator().manual_seed(0))
    truth = torch.randint(0, 4, (300,), generator=torch.Generator().manual_seed(1))
    ours = metrics.calibration(scores, truth, norm=norm)
    theirs = tm.multiclass_calibration_error(scores, truth, 4, n_bins=15, norm=norm)
    assert ours.error.item() == pytest.approx(theirs.item(), abs=1e-6)
    assert ours.samples.sum() == 300
    sure = metrics.calibration(torch.eye(3), torch.arange(3), from_logits=False)
    assert sure.error.item() == 0


def test_most_confused_reads_the_row_without_the_diagonal():
    matrix = torch.zeros(6, 6, dtype=torch.long)
    matrix[0, 1] = 17  # class 0 is always called 1
    matrix[1, 1], matrix[2] = 9, torch.tensor([5, 4, 90, 3, 2, 1])
    pairs = metrics.most_confused(matrix)
    assert pairs[0] == [(1, 17)]
    assert pairs[1] == []
    assert pairs[2] == [(0, 5), (1, 4), (3, 3), (4, 2), (5, 1)]
    assert [len(row) for row in metrics.most_confused(torch.ones(3, 3))] == [2, 2, 2]
    assert metrics.most_confused(torch.ones(1, 1)) == [[]]


@pytest.mark.parametrize("classes", [1, 2, 3, 6])
def test_the_report(tmp_path, classes):
    truth, called = labels(300, classes)
    matrix = metrics.confusion_matrix(called, truth, classes)
    names = [f'n"{c},\n' for c in range(classes)]
    metrics.write_report(tmp_path / "report.csv", matrix, names)
    assert b"\r" not in (tmp_path / "report.csv").read_bytes()
    with (tmp_path / "report.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["Class"] for row in rows] == [*names, "All", "Mean"]
    assert len([key for key in rows[0] if key.startswith("Confused")]) == min(5, classes - 1)
    theirs = sklearn.metrics.precision_recall_fscore_support(truth, called, labels=range(classes), zero_division=0)
    for c in range(classes):
        assert rows[c]["Recall"] == f"{theirs[1][c]:.3f}"
        assert rows[c]["Support"] == str(theirs[3][c])
    assert rows[-2]["Precision"] == f"{metrics.accuracy(called, truth).item():.3f}"
    assert rows[-2]["Support"] == "300"


@pytest.mark.parametrize(
    "function",
    [
        lambda s, y: metrics.confusion_matrix(s, y, 4),
        metrics.accuracy,
        metrics.topk_accuracy,
        lambda s, y: metrics.precision_recall_f1(metrics.confusion_matrix(s, y, 4), "macro"),
        metrics.mean_average_precision,
        metrics.calibration,
    ],
)
def test_compiles_whole_and_gives_the_same(function):
    scores = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
    truth = torch.randint(0, 4, (40,), generator=torch.Generator().manual_seed(1))
    expected = function(scores, truth)
    torch.testing.assert_close(torch.compile(function, fullgraph=True, backend="aot_eager")(scores, truth), expected)
    wide = torch.stack([scores, scores], -1)[..., 0]
    torch.testing.assert_close(function(wide, truth), expected)
