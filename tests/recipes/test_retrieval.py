"""Retrieval against its literal definition and scikit-learn: ties, cameras, queries without a right entry, any order."""

import numpy as np
import pytest
import sklearn.metrics
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from torchlore.recipes import metrics

AXES = torch.cat([torch.eye(3), -torch.eye(3)])  # their cosines are exactly -1, 0 and 1: many ties


def literal(query: Tensor, gallery: Tensor, labels: tuple[Tensor, Tensor], cameras: tuple[Tensor, Tensor] | None):
    """For each query with a right entry: scikit-learn's average precision and the rank of the first right entry."""
    found = {}
    for i in range(len(query)):
        apart = 1 - (query[i] @ gallery.T)
        own = labels[1] == labels[0][i]
        kept = torch.ones(len(gallery), dtype=torch.bool)
        if cameras is not None:
            kept = ~(own & (cameras[1] == cameras[0][i]))
        right, near = own[kept].numpy(), apart[kept].numpy()
        if not right.any():
            continue
        order = sorted(range(len(near)), key=lambda j: (near[j], right[j]))
        first = next(place for place, j in enumerate(order, 1) if right[j])
        found[i] = (sklearn.metrics.average_precision_score(right, -near), first)
    return found


@given(st.integers(1, 12), st.integers(1, 30), st.integers(0, 10_000), st.booleans(), st.sampled_from([None, 1, 5]))
@settings(deadline=None, max_examples=120)
def test_ties_cameras_and_absent_labels(queries: int, entries: int, seed: int, cams: bool, rows: int | None) -> None:
    def numbers(high: int, count: int) -> Tensor:
        return torch.randint(0, high, (count,), generator=generator)

    generator = torch.Generator().manual_seed(seed)
    query, gallery = AXES[numbers(6, queries)], AXES[numbers(6, entries)]
    labels = (numbers(5, queries), numbers(4, entries))  # label 4 is never in the gallery
    cameras = (numbers(2, queries), numbers(2, entries)) if cams else None
    ours = metrics.retrieval(query, gallery, *labels, cameras=cameras, max_rank=8, rows=rows)
    wanted = literal(query, gallery, labels, cameras)
    assert ours.queries == len(wanted)
    assert ours.mean_average_precision.item() == pytest.approx(np.mean([p for p, _ in wanted.values()] or [0.0]))
    firsts = np.array([first for _, first in wanted.values()])
    curve = [(firsts <= rank).mean() if len(firsts) else 0.0 for rank in range(1, min(8, entries) + 1)]
    np.testing.assert_allclose(ours.cmc, curve)
    for i in range(queries):
        precision, first = wanted.get(i, (float("nan"), 0))
        assert ours.precision[i].item() == pytest.approx(precision, nan_ok=True)
        assert ours.first[i].item() == first
    mixed = torch.randperm(entries, generator=generator)
    seen = None if cameras is None else (cameras[0], cameras[1][mixed])
    again = metrics.retrieval(query, gallery[mixed], labels[0], labels[1][mixed], cameras=seen, max_rank=8)
    assert torch.equal(again.cmc, ours.cmc)
    assert torch.equal(again.first, ours.first)


def test_real_valued_features_without_cameras() -> None:
    generator = torch.Generator().manual_seed(3)
    query, gallery = (torch.nn.functional.normalize(torch.randn(n, 8, generator=generator)) for n in (20, 90))
    labels = tuple(torch.randint(0, 7, (n,), generator=generator) for n in (20, 90))
    wanted = literal(query.double(), gallery.double(), labels, None)
    for distance in ("cosine", "euclidean"):  # of rows of length 1 both rank alike
        found = metrics.retrieval(query, gallery, *labels, distance=distance)
        np.testing.assert_allclose(found.precision, [p for p, _ in wanted.values()], rtol=1e-6)
        assert found.first.tolist() == [first for _, first in wanted.values()]


def test_an_embedding_that_collapsed_is_worth_nothing() -> None:
    """Sorted by label, a gallery of equal distances would look perfect to a ranking that keeps its order."""
    labels = torch.arange(10)
    found = metrics.retrieval(torch.ones(1, 4), torch.ones(10, 4), labels[:1], labels)
    assert (found.mean_average_precision.item(), found.first.item()) == (pytest.approx(0.1), 10)


def test_features_in_half_precision_with_a_graph_and_a_row_of_zeros() -> None:
    query = torch.zeros(1, 4, requires_grad=True)
    found = metrics.retrieval(query.bfloat16(), torch.eye(4).bfloat16(), torch.tensor([1]), torch.arange(4))
    assert found.first.item() == 4
    assert not found.precision.requires_grad


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gallery": torch.rand(3, 5)}, r"query has shape \(2, 4\) and gallery \(3, 5\)"),
        ({"query_labels": torch.arange(3)}, "query_labels has shape"),
        ({"cameras": (torch.arange(2), torch.arange(2))}, r"cameras\[1\] has shape"),
        ({"max_rank": 0}, "max_rank is 0"),
        ({"distance": "manhattan"}, "manhattan"),
    ],
)
def test_wrong_shapes_are_named(change: dict, says: str) -> None:
    given = {
        "query": torch.rand(2, 4),
        "gallery": torch.rand(3, 4),
        "query_labels": torch.arange(2),
        "gallery_labels": torch.arange(3),
    }
    with pytest.raises(ValueError, match=says):
        metrics.retrieval(**(given | change))
