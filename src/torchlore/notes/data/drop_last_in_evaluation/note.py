"""`drop_last=True` in a validation or test loader leaves samples out of the score.

The short last batch is thrown away: with 1,000 samples and batches of 64 that is 40 of them, always the same ones, as
nothing is shuffled; with a test set smaller than the batch it is all of them, and the score is 0 / 0. Divided by
`len(loader.dataset)`, which still counts them, an accuracy is too low as well.

Drop the last batch in training, where a batch of one would upset batch norm, and never when you measure:
`DataLoader(test_set, batch_size=64)`.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/data.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["measured"] == 96
    assert good["measured"] == 100
