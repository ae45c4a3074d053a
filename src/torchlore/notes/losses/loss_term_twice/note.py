"""The same loss twice in one sum is one loss with another weight: one was meant to differ.

Losses come in pairs: codebook and commitment, real and fake, forward and backward, first and second view. They are written by
copying a line and changing a name or the place of a `detach()`. Where the change was forgotten, the sum is `(1 + beta)` times one
term, and the other half of the method is missing: a codebook that gets no gradient, a direction that is not learned. Both terms
print plausible numbers, since they are the same number.

Mixup's two losses are such a pair: mixed pictures, with `y_a, y_b = y, y`, are trained on the labels of one half.

Compare the two terms letter by letter and give the second one what it should compare.
"""

ROWS = ()
SOURCES = ("https://github.com/rishikksh20/TFGAN/issues/7",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["codebook_moved"] == 0
    assert good["codebook_moved"] > 0
