"""Ranking and embedding losses take targets of 1 and -1: a target of 0 teaches nothing.

`margin_ranking_loss`, `cosine_embedding_loss`, `hinge_embedding_loss` and `soft_margin_loss` read the sign of the target. With
labels of 0 and 1, as every other loss takes them, the pairs labelled 0 give a constant: cosine embedding ignores them, the
ranking loss returns its margin. Half of the data has no gradient, and there is no error.

Write `target = 2 * label - 1`.
"""

ROWS = ()
SOURCES = ("https://github.com/seathiefwang/RankPose/issues/4", "https://github.com/pytorch/pytorch/issues/23782")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["gradient"] == 0
    assert good["gradient"] > 0
