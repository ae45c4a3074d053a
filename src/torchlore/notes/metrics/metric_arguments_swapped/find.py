"""The rule of metric-arguments-swapped."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, tree, values
from torchlore.check.source import Hit, Source

_METRICS = tuple(
    f"sklearn.metrics.{name}"
    for name in (
        "precision_score", "recall_score", "fbeta_score", "precision_recall_fscore_support", "confusion_matrix",
        "classification_report", "roc_auc_score", "average_precision_score", "roc_curve", "precision_recall_curve",
        "r2_score", "log_loss", "balanced_accuracy_score", "mean_absolute_percentage_error", "explained_variance_score",
    )
)  # fmt: skip
_FIRST = re.compile(r"(?:^|_)(?:y?preds?|pre$|y?hat|yhat|predicted|predictions?|outputs?|logits|probs?|scores?)(?:_|$)")
_SHOWN = re.compile(r"heatmap|ConfusionMatrixDisplay|imshow|matshow|plot_confusion", re.IGNORECASE)
_SYMMETRIC = re.compile(
    r"psnr|ssim|lpips|PeakSignal|StructuralSimil|PerceptualImage|MeanSquaredE|MeanAbsoluteE", re.IGNORECASE
)
_SECOND = re.compile(
    r"(?:^|_)(?:true|truth|trues|labels?|targets?|gts?|ytrue|actual|ground_truth|test_y|y_test)(?:_|$)"
)
WORDS = ("sklearn|*torchmetrics*",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*_METRICS):
        if len(call.args) < 2 or tree.spread(call):
            continue
        first, second = call.args[:2]
        if _is(first, _FIRST, _SECOND) and _is(second, _SECOND, _FIRST) and not _judged_twice(source, call):
            one, other = source.code(first), source.code(second)
            both = (edits.replace(source, first, other), edits.replace(source, second, one))
            told = f"scikit-learn takes the truth first: write `({other}, {one})`"
            counted = source.name(call.func).endswith("confusion_matrix") and not _SHOWN.search(source.text)
            yield source.hit(call, told, *both, severity="hint" if counted else "warning")  # cells may be read that way
    yield from _torchmetrics(source) if "torchmetrics" in source.text else ()


def _judged_twice(source: Source, call: ast.Call) -> bool:
    """The second argument is measured against another first one too: it is what is judged, whatever its name."""
    others = (one for one in source.calls(source.name(call.func)) if one is not call and len(one.args) > 1)
    return any(
        source.code(one.args[1]) == source.code(call.args[1])
        for one in others
        if source.code(one.args[0]) != source.code(call.args[0])
    )


def _torchmetrics(source: Source) -> Iterator[Hit]:
    """`accuracy(true_y, pred_y)` of a metric that takes the prediction first."""
    for call in source.all(ast.Call):
        if len(call.args) != 2 or call.keywords or tree.spread(call):
            continue
        first, second = call.args
        if not (_is(first, _SECOND, _FIRST) and _is(second, _FIRST, _SECOND)):
            continue
        method = isinstance(call.func, ast.Attribute) and call.func.attr in ("update", "forward")
        metric = call.func.value if method and isinstance(call.func, ast.Attribute) else call.func
        made = " ".join(value.name for value in source.values(metric)) + source.code(metric)
        if _SYMMETRIC.search(made):
            continue
        named = source.name(call.func).startswith("torchmetrics.functional.")
        if named or values.sure(source, metric, "metric"):
            one, other = source.code(first), source.code(second)
            both = (edits.replace(source, first, other), edits.replace(source, second, one))
            yield source.hit(
                call, f"torchmetrics takes the prediction first: write `({other}, {one})`", *both, severity="warning"
            )


def _is(node: ast.expr, wanted: re.Pattern[str], other: re.Pattern[str]) -> bool:
    """Whether the argument's own name says so, and not the other too."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and wanted.search(node.attr.lower()):
            return not other.search(node.attr.lower())
        if isinstance(node, ast.Call):
            argument = node.args[0] if node.args else None
            inside = isinstance(node.func, ast.Attribute) and not isinstance(argument, ast.Name)
            node = node.func.value if inside and isinstance(node.func, ast.Attribute) else argument or node.func
        else:
            node = node.value
    name = node.id.lower() if isinstance(node, ast.Name) else ""
    return bool(wanted.search(name)) and not other.search(name)
