"""What holds for every public recipe, from one table: a recipe that is added without its row fails here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import NamedTuple

import pytest
import torch
from torch import nn

from torchlore import recipes
from torchlore.recipes import augment, layers, losses, metrics, tensors


def public():
    """Every function and class that users import, by module and name, each where it is at home."""
    found = {}
    for info in pkgutil.iter_modules(recipes.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"torchlore.recipes.{info.name}")
        own = [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__ and callable(thing)
        ]
        for name in getattr(module, "__all__", own):
            thing = getattr(module, name)
            if inspect.isfunction(thing) or inspect.isclass(thing):
                found[f"{info.name}.{name}"] = thing
    return found


PUBLIC = public()
X = torch.randn(4, 3, 6, 6, generator=torch.Generator().manual_seed(5))
Y = torch.arange(144).view(4, 6, 6) % 3  # a label for each pixel of X
Z, L = X.flatten(1), torch.tensor([0, 0, 1, 1])  # embeddings and their labels
S = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))  # scores
T = torch.arange(40) % 4
MATRIX = torch.tensor([[3, 1], [2, 5]])
PLAN = augment.region_plan(4, 3, generator=torch.Generator().manual_seed(1))
ROWS, SIGNS = torch.tensor([[0, 1, 5], [2, 7, 1]]), torch.tensor([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])


class Case(NamedTuple):
    """A function of one tensor, that tensor, and a call that must be refused with these words."""

    function: object
    value: torch.Tensor
    wrong: object
    words: str


def same(x):
    """Four pictures that are one: whatever is mixed with whatever, the result is known."""
    return x[:1].expand(4, -1, -1, -1)


TABLE = {
    "augment.apply_region_plan": Case(
        lambda x: augment.apply_region_plan(x, PLAN),
        X,
        lambda: augment.apply_region_plan(X, PLAN[:3]),
        "plan has shape",
    ),
    "augment.cutmix": Case(
        lambda x: augment.cutmix(same(x), L).images, X, lambda: augment.cutmix(X, L, -1.0), "alpha is -1.0"
    ),
    "augment.mixup": Case(lambda x: augment.mixup(same(x), L).images, X, lambda: augment.mixup(X, L[:2]), r"labels"),
    "augment.region_confusion": Case(
        lambda x: augment.region_confusion(x, 3).flatten().sort().values,
        X,
        lambda: augment.region_confusion(X, 0),
        "blocks is 0",
    ),
    "layers.CompactBilinear": Case(
        layers.CompactBilinear(3, 16, generator=torch.Generator().manual_seed(0)),
        X,
        lambda: layers.CompactBilinear(0, 16),
        "channels is 0",
    ),
    "layers.FrozenBatchNorm": Case(
        layers.FrozenBatchNorm(3), X, lambda: layers.FrozenBatchNorm(5)(X), r"x has shape \(4, 3, 6, 6\).*\(N, 5, ...\)"
    ),
    "layers.RunningMean": Case(
        layers.RunningMean(3).eval(), X, lambda: layers.RunningMean(5)(X), r"x has shape \(4, 3, 6, 6\).*\(N, 5, ...\)"
    ),
    "layers.bilinear_pool": Case(
        layers.bilinear_pool, X, lambda: layers.bilinear_pool(X[0, 0]), r"features have shape \(6, 6\)"
    ),
    "layers.compact_bilinear_pool": Case(
        lambda x: layers.compact_bilinear_pool(x, ROWS, SIGNS, 8),
        X,
        lambda: layers.compact_bilinear_pool(X, ROWS[:1], SIGNS, 8),
        r"rows have shape \(1, 3\)",
    ),
    "layers.global_pool": Case(
        lambda x: layers.global_pool(x, "gem"), X, lambda: layers.global_pool(X, "min"), "kind is 'min'"
    ),
    "layers.signed_sqrt": Case(
        layers.signed_sqrt, X, lambda: layers.signed_sqrt(L), "x has dtype torch.int64; it must be floating"
    ),
    "losses.angular_margin_logits": Case(
        lambda x: losses.angular_margin_logits(x, Z[:2], L),
        Z,
        lambda: losses.angular_margin_logits(Z, Z[:2, :5], L),
        r"centers have shape \(2, 5\)",
    ),
    "losses.batch_all_triplet_loss": Case(
        lambda x: losses.batch_all_triplet_loss(x, L),
        Z,
        lambda: losses.batch_all_triplet_loss(Z, L, distance="l1"),
        "distance is 'l1'",
    ),
    "losses.batch_hard_triplet_loss": Case(
        lambda x: losses.batch_hard_triplet_loss(x, L),
        Z,
        lambda: losses.batch_hard_triplet_loss(Z, L[:2]),
        r"labels \(2,\)",
    ),
    "losses.binary_focal_loss": Case(
        lambda x: losses.binary_focal_loss(x, (X > 0).long()),
        X,
        lambda: losses.binary_focal_loss(X, Y),
        r"target has shape \(4, 6, 6\)",
    ),
    "losses.center_loss": Case(
        lambda x: losses.center_loss(x, L, Z[:2]),
        Z,
        lambda: losses.center_loss(Z, L, Z[:2, :5]),
        r"centers have shape \(2, 5\)",
    ),
    "losses.contrastive_loss": Case(
        lambda x: losses.contrastive_loss(x, L), Z, lambda: losses.contrastive_loss(L, L), "embeddings has dtype"
    ),
    "losses.dice_loss": Case(
        lambda x: losses.dice_loss(x, (X > 0).float()), X, lambda: losses.dice_loss(X, Y), r"targets \(4, 6, 6\)"
    ),
    "losses.focal_loss": Case(
        lambda x: losses.focal_loss(x, Y), X, lambda: losses.focal_loss(X, Y.float()), "target has dtype torch.float32"
    ),
    "losses.info_nce_loss": Case(
        lambda x: losses.info_nce_loss(x, Z.flip(0)), Z, lambda: losses.info_nce_loss(Z, Z[:2]), r"second \(2, 108\)"
    ),
    "losses.iou_loss": Case(
        lambda x: losses.iou_loss(x, (X > 0).long(), ignore_index=7),
        X,
        lambda: losses.iou_loss(X, X > 0, form="cubed"),
        "form is 'cubed'",
    ),
    "losses.l1_penalty": Case(
        lambda x: losses.l1_penalty([x], only_weights=False), X, lambda: losses.l1_penalty([]), "no parameter is left"
    ),
    "losses.label_smoothing_loss": Case(
        lambda x: losses.label_smoothing_loss(x, Y, spread="others", ignore_index=2),
        X,
        lambda: losses.label_smoothing_loss(X, Y, 1.5),
        "epsilon is 1.5",
    ),
    "losses.mixed_loss": Case(
        lambda x: losses.mixed_loss(x, Y, Y.flip(0), 0.3),
        X,
        lambda: losses.mixed_loss(X, Y, Y, torch.ones(3)),
        r"share has shape \(3,\)",
    ),
    "losses.multiclass_dice_loss": Case(
        lambda x: losses.multiclass_dice_loss(x, Y),
        X,
        lambda: losses.multiclass_dice_loss(X, Y + 9),
        "label 11, but there are 3 classes",
    ),
    "losses.multiclass_iou_loss": Case(
        lambda x: losses.multiclass_iou_loss(x, Y),
        X,
        lambda: losses.multiclass_iou_loss(X, Y, classes="some"),
        "classes is 'some'",
    ),
    "losses.smooth_labels": Case(
        lambda x: losses.smooth_labels((x > 0).long(), 3),
        X,
        lambda: losses.smooth_labels(X, 3),
        "target has dtype torch.float32",
    ),
    "losses.soft_cross_entropy": Case(
        lambda x: losses.soft_cross_entropy(x, losses.smooth_labels(Y, 3)),
        X,
        lambda: losses.soft_cross_entropy(X, Y),
        r"target has shape \(4, 6, 6\)",
    ),
    "losses.supervised_contrastive_loss": Case(
        lambda x: losses.supervised_contrastive_loss(x, L),
        Z,
        lambda: losses.supervised_contrastive_loss(Z, L, 0.0),
        "temperature is 0.0",
    ),
    "losses.tversky_loss": Case(
        lambda x: losses.tversky_loss(x, X > 0), X, lambda: losses.tversky_loss(X, X > 0, -1.0), "alpha is -1.0"
    ),
    "metrics.accuracy": Case(lambda x: metrics.accuracy(x, T), S, lambda: metrics.accuracy(S, T[:3]), r"target \(3,\)"),
    "metrics.average_precision": Case(
        lambda x: metrics.average_precision(x[:, 0], T == 0),
        S,
        lambda: metrics.average_precision(S[:, 0], T[:3] == 0),
        r"\(40,\)",
    ),
    "metrics.calibration": Case(
        lambda x: metrics.calibration(x, T), S, lambda: metrics.calibration(S, T, bins=0), "bins is 0"
    ),
    "metrics.confusion_matrix": Case(
        lambda x: metrics.confusion_matrix(x, T, 4),
        S,
        lambda: metrics.confusion_matrix(S, T, 0),
        "num_classes is 0",
    ),
    "metrics.iou": Case(lambda x: metrics.iou(metrics.confusion_matrix(x, T, 4)), S, lambda: metrics.iou(S), r"matrix"),
    "metrics.mean_average_precision": Case(
        lambda x: metrics.mean_average_precision(x, T), S, lambda: metrics.mean_average_precision(S, T[:3]), r"\(3,\)"
    ),
    "metrics.precision_recall_f1": Case(
        lambda x: metrics.precision_recall_f1(metrics.confusion_matrix(x, T, 4), "macro"),
        S,
        lambda: metrics.precision_recall_f1(MATRIX, "mean"),
        "average is 'mean'",
    ),
    "metrics.topk_accuracy": Case(
        lambda x: metrics.topk_accuracy(x, T, (1, 2)), S, lambda: metrics.topk_accuracy(S, T[:3]), r"\(3,\)"
    ),
    "tensors.copy_of": Case(tensors.copy_of, X, None, "takes any tensor"),
    "tensors.check_shape": Case(
        lambda x: torch.tensor(tensors.check_shape(x, "N C H H")["H"]),
        X,
        lambda: tensors.check_shape(X, "N C"),
        r"the tensor has shape \(4, 3, 6, 6\)",
    ),
    "tensors.expand_map": Case(
        lambda x: tensors.expand_map(x, 2, 3), Z, lambda: tensors.expand_map(X, 2, 3), r"features have shape"
    ),
    "tensors.flip": Case(tensors.flip, X, lambda: tensors.flip(X, 7), r"dims are \(7,\)"),
    "tensors.nearest": Case(
        lambda x: tensors.nearest(x, Z + 1, 2).distances, Z, lambda: tensors.nearest(Z, Z, 9), "k is 9"
    ),
    "tensors.one_hot": Case(
        lambda x: tensors.one_hot((x > 0).long(), 3), X, lambda: tensors.one_hot(X, 3), "labels have dtype"
    ),
    "tensors.pairwise_blocks": Case(
        lambda x: [block for _, block in tensors.pairwise_blocks(x, Z, rows=3)],
        Z,
        lambda: list(tensors.pairwise_blocks(Z, Z, rows=0)),
        "rows is 0",
    ),
    "tensors.pairwise_cosine": Case(
        lambda x: tensors.pairwise_cosine(x, Z), Z, lambda: tensors.pairwise_cosine(Z, X), r"second \(4, 3, 6, 6\)"
    ),
    "tensors.pairwise_euclidean": Case(
        lambda x: tensors.pairwise_euclidean(x, Z),
        Z,
        lambda: tensors.pairwise_euclidean(Z, Z[:, :5]),
        r"second \(4, 5\)",
    ),
    "tensors.shuffle_together": Case(
        lambda x: tensors.shuffle_together(x)[0].flatten().sort().values,
        X,
        lambda: tensors.shuffle_together(X, Z[:2]),
        "first dimensions must be equal",
    ),
}

# They take a tensor and are no tensor functions: what comes out is not a tensor, or the values decide what is done.
APART = {
    "init.init_from_": "fills a module",
    "losses.class_weights": "from counts, once a run",
    "metrics.most_confused": "gives lists of Python",
    "metrics.report_rows": "gives texts",
    "metrics.retrieval": "in blocks whose number depends on the data; tested in test_retrieval.py",
    "metrics.write_report": "writes a file",
    "seed.restore_rng": "sets generators",
    "tensors.describe": "gives a text",
    "tensors.shares_memory": "asks about memory, which a traced tensor has not",
    "tensors.to_numpy": "leaves torch",
    "tensors.to_pil": "leaves torch",
}


def takes_a_tensor(thing):
    call = thing.forward if inspect.isclass(thing) and issubclass(thing, nn.Module) else thing
    if inspect.isclass(call):
        return False
    hints = [str(one.annotation) for one in inspect.signature(call).parameters.values()]
    return any(hint.removeprefix("torch.") in {"Tensor", "Tensor | Iterable[int]"} for hint in hints)


def test_every_tensor_function_has_its_row():
    wanted = {name for name, thing in PUBLIC.items() if takes_a_tensor(thing)}
    assert wanted - TABLE.keys() - APART.keys() == set()
    assert (TABLE.keys() | APART.keys()) - PUBLIC.keys() == set()


@pytest.mark.parametrize("name", TABLE)
def test_compiles_whole(name):
    function, value = TABLE[name][:2]
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(value), function(value))


@pytest.mark.parametrize("name", TABLE)
def test_autocast_changes_nothing(name):
    function, value = TABLE[name][:2]
    expected = function(value)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(function(value), expected)


@pytest.mark.parametrize("name", TABLE)
def test_layout_changes_nothing(name):
    function, value = TABLE[name][:2]
    expected = function(value)
    strided = torch.stack([value, torch.full_like(value, 9.0)], -1)[..., 0]
    assert not strided.is_contiguous()
    torch.testing.assert_close(function(strided), expected)
    if value.ndim == 4:
        torch.testing.assert_close(function(value.to(memory_format=torch.channels_last)), expected)


@pytest.mark.parametrize("name", [name for name, case in TABLE.items() if case.wrong])
def test_wrong_input_is_refused_by_name(name):
    with pytest.raises((ValueError, TypeError, IndexError), match=TABLE[name].words) as caught:
        TABLE[name].wrong()
    assert str(caught.value).startswith(f"{name.split('.')[1]}: ")
    assert ";" in str(caught.value), "what it got; what it needs"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_signature_is_typed(name):
    thing = PUBLIC[name]
    if inspect.isclass(thing) and (issubclass(thing, BaseException) or getattr(thing, "_is_protocol", False)):
        return
    call = thing.__init__ if inspect.isclass(thing) and "__init__" in vars(thing) else thing
    if inspect.isclass(call):
        return  # a named tuple, whose fields are its types
    hints = dict(inspect.get_annotations(call))
    untyped = [one for one in inspect.signature(call).parameters if one not in hints and one not in {"self", "_"}]
    assert not untyped
    assert "return" in hints


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if inspect.isfunction(thing)])
def test_every_function_shows_how_it_is_called(name):
    assert ">>>" in (PUBLIC[name].__doc__ or "")
    assert PUBLIC[name].__doc__.splitlines()[0].endswith((".", ":"))
