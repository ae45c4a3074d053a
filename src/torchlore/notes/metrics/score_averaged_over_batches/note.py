"""The mean of the batches' F1 scores is not the F1 score, nor an accuracy if a batch is short.

F1, precision, recall, AUC and IoU are ratios of sums. A batch without positives has an F1 of 0 by definition, and pulls
the mean down however well the rest is classified; with small batches and rare classes the mean is off by a half. The
accuracy is a mean, so the mean of the batches' accuracies is right only if all batches have one size: with 250 samples
in batches of 64 the last 58 count as much as 64, with 257 the last one alone counts as much as 64.

Collect what the score is made of and compute it once: `scores.append(f1_score(y, p))` becomes `ys.append(y);
ps.append(p)` and one `f1_score(torch.cat(ys), torch.cat(ps))` at the end; for an accuracy add up
`(pred == y).sum().item()` and divide by the samples. A metric of torchmetrics does both with `update` and `compute`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/namiyousef/argument-mining/issues/45",
    "https://github.com/udacity/deep-learning-v2-pytorch/pull/74",
    "https://github.com/mlcommons/training/issues/89",
)
TORCH = "2.11, 2.15"
NEEDS = ("sklearn",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(good["f1"] - 2 / 3) < 1e-6
    assert bad["f1"] == 0.25
