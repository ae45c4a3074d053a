"""Without `ignore_index` the padding is learned like words, and most of the loss is padding.

A batch of sentences is filled up to one length. `cross_entropy` does not know which targets are padding: each is a word to be
predicted, the easiest one of all. The mean falls because padding is predicted well; short sentences and large batches push
the words' share of the gradient down, and perplexities are not comparable.

Say which id is padding: `F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)`.
"""

ROWS = ()
SOURCES = (
    "https://github.com/lucidrains/DALLE-pytorch/issues/57",
    "https://github.com/lukas-blecher/LaTeX-OCR/issues/305",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["gradient_on_padding"] > 0
    assert good["gradient_on_padding"] == 0
