"""How often a rule's errors were right on real code: to say "error" is earned, a rule begins as a warning.

Read by people, in the looks of docs/looks.md: what a rule said at first sight in looks 30 to 34 and 36 to 39, at most four
findings a repository, and what it says of the 432 repositories of the looks before.
"""

from __future__ import annotations

RECORD = {  # slug: right, read
    "accumulate-loss-with-graph": (101, 103),
    "accuracy-over-batches": (3, 3),
    "activation-applied-twice": (3, 3),
    "amp-clip-without-unscale": (27, 27),
    "amp-step-without-scaler": (0, 1),
    "argument-passed-over": (7, 7),
    "attention-scale-inverted": (3, 3),
    "attribute-narrowed-in-forward": (2, 2),
    "auc-of-hard-labels": (7, 7),
    "batch-first-forgotten": (5, 6),
    "bce-on-logits": (12, 15),
    "best-never-updated": (5, 8),
    "causal-mask-inverted": (1, 2),
    "chained-index-assignment": (16, 16),
    "class-weights-in-sampler": (1, 1),
    "clip-outside-backward-step": (22, 23),
    "condition-always-true": (39, 39),
    "copy-is-the-same-module": (1, 1),
    "dataset-changed-in-place": (1, 1),
    "deviation-for-variance": (9, 12),
    "discarded-move": (40, 45),
    "discarded-tensor-op": (71, 76),
    "einsum-pattern": (3, 3),
    "epoch-scheduler-per-batch": (10, 10),
    "exhausted-parameter-generator": (6, 6),
    "focal-on-batch-mean": (6, 6),
    "from-pretrained-discarded": (12, 18),
    "function-in-sequential": (1, 1),
    "generator-loss-detached": (0, 2),
    "grad-context-as-statement": (3, 3),
    "initialised-after-loading": (2, 10),
    "kl-div-on-probabilities": (4, 4),
    "language-model-sees-the-answer": (1, 1),
    "layer-created-in-forward": (15, 15),
    "length-taken-as-index": (1, 1),
    "load-state-dict-assigned": (1, 1),
    "loop-variable-rebound": (15, 15),
    "loss-broadcasts": (1, 3),
    "loss-over-the-wrong-count": (61, 67),
    "loss-term-without-gradient": (2, 2),
    "lr-set-on-state-dict-copy": (2, 2),
    "masked-score-keeps-weight": (8, 10),
    "method-not-called": (6, 6),
    "micro-batch-zero-grad": (1, 2),
    "missing-super-init": (10, 16),
    "missing-zero-grad": (42, 52),
    "misspelt-method": (8, 9),
    "misspelt-setting": (17, 17),
    "modules-in-plain-container": (17, 23),
    "nan-compare": (3, 4),
    "negative-step-slice": (8, 10),
    "normalize-for-other-pixels": (0, 4),
    "one-list-many-times": (2, 2),
    "one-model-for-all-folds": (2, 2),
    "one-state-for-all-cells": (2, 2),
    "onecycle-per-epoch": (1, 1),
    "optimizer-argument-out-of-place": (3, 5),
    "optimizer-before-model-change": (2, 4),
    "optimizer-group-key": (2, 2),
    "optimizer-rebuilt-every-epoch": (5, 5),
    "optimizer-sees-no-gradient": (2, 2),
    "own-slice-in-place": (0, 1),
    "parameter-moved-on-creation": (50, 53),
    "parameter-never-initialised": (11, 15),
    "plateau-mode-min-on-accuracy": (3, 8),
    "predicate-not-called": (28, 28),
    "removed-torch-function": (71, 75),
    "requires-grad-on-module": (41, 42),
    "result-as-parameter": (0, 4),
    "return-inside-the-loop": (10, 12),
    "rnn-last-of-batch": (1, 1),
    "same-tensor-appended": (1, 3),
    "scheduler-holds-another-optimizer": (3, 3),
    "scheduler-verbose": (140, 140),
    "scores-for-labels": (4, 4),
    "second-name-is-no-copy": (6, 10),
    "shared-subset-transform": (3, 3),
    "sigmoid-before-bce-with-logits": (4, 5),
    "single-logit-softmax": (7, 8),
    "smoothing-adds-too-much": (0, 1),
    "softmax-before-cross-entropy": (64, 65),
    "softmax-over-queries": (0, 3),
    "state-dict-changed-in-vain": (4, 5),
    "targets-not-plus-minus-one": (0, 2),
    "tensor-not-parameter": (0, 1),
    "training-set-overlaps-validation": (11, 11),
    "twins-stay-equal": (0, 2),
    "zero-grad-between-backward-and-step": (1, 5),
    "zero-initialised-hidden": (3, 9),
}
_SEEN = {"not-in-this-torch"}  # the installed torch was asked


def proven(slug: str) -> bool:
    """Whether it would be right seven times in eight even if of the next two findings one were wrong."""
    right, read = RECORD.get(slug, (0, 0))
    return slug in _SEEN or (right + 1) * 8 >= (read + 2) * 7


def told(slug: str) -> str:
    """What to say of a rule whose note calls the trap an error."""
    right, read = RECORD.get(slug, (0, 0))
    so_far = f"right in {right} of {read} findings read on real code" if read else "not met on real code yet"
    return f"as an error, {so_far}" if proven(slug) else f"as a warning until it is proven, {so_far}"
