"""Which way a number gets better, by its name."""

from __future__ import annotations

import re

from torchlore.check.pattern import regex

_GROWS = regex(
    r"(^|_)(acc|accs|accuracy|f1|auc|auroc|iou|miou|dice|map|mAP|psnr|ssim|recall|precision|bleu|kappa|r2)(_|\d|$)|(^|_)top_?[15]($|_)|(^|_)(num_?|n_?)?(correct|hits)$"
)
_FALLS = regex(r"(^|_)(loss|losses|error|err|mse|mae|rmse|wer|cer|perplexity|ppl)(_|$)")


def direction(word: str) -> str:
    """Either "max" or "min", "" where the name does not say.

    >>> direction("val_acc"), direction("eval_loss"), direction("score")
    ('max', 'min', '')
    """
    grows, falls = bool(_GROWS.search(word)), bool(_FALLS.search(word))
    return "" if grows == falls else "max" if grows else "min"


def direction_of_key(key: object) -> str:
    """The same for the key of a log, whose words may be parted otherwise: `val/Acc@1`, `valid-F1`."""
    return direction(re.sub(r"[^a-z0-9]+", "_", key.lower())) if isinstance(key, str) else ""
