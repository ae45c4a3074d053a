"""`ModelCheckpoint(monitor="val_acc")` keeps the worst model: the smallest value is the best one.

`ModelCheckpoint` and `EarlyStopping` of Lightning have `mode="min"`. Given an accuracy they call the lowest one the best: the
checkpoint that is kept is that of the worst epoch, and the run ends once the accuracy has risen for `patience` epochs. The
`TrainingArguments` of transformers guess by the name: what ends in "loss" is to fall and everything else is to grow, so with
`metric_for_best_model="wer"` the model with the most errors is loaded in the end. Nothing is said; the curves look fine.

`optuna.create_study()` and a sweep of wandb make small what they are given, an accuracy too; Ignite's handlers take the greatest
`score_function`, a loss too.

Say the direction: `mode="max"` for a score, `greater_is_better=False` for an error.
"""

ROWS = ()
SOURCES = (
    "https://github.com/Lightning-AI/pytorch-lightning/issues/4668",
    "https://github.com/huggingface/transformers/pull/31142",
    "https://github.com/mila-iqia/cookiecutter-pyml/issues/119",
)
TORCH = "2.11, 2.15"
NEEDS = ("lightning",)
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["kept"] < 0.51
    assert good["kept"] > 0.89
