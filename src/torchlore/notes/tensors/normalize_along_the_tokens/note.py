"""F.normalize takes dimension 1 unless told otherwise: the tokens of (batch, tokens, features).

`F.normalize(x)` is made for rows of features: (batch, features), with `dim=1` as default. Of a tensor (batch, tokens, features) it
takes one feature over all tokens, so no token has length 1. The products that follow are no cosines: they are larger than 1,
depend on how many tokens there are and on what stands in the others, and a temperature tuned for cosines does not fit them.
`F.cosine_similarity` has the same default and gives one number for each feature instead of one for each token.

Say which dimension: `F.normalize(x, dim=-1)`, `F.cosine_similarity(a, b, dim=-1)`.
"""

ROWS = ()
SOURCES = ("https://github.com/gabeur/mmt/issues/1",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["largest"] > 1.1  # a cosine is at most 1
    assert good["largest"] < 1.0001
