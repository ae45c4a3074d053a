"""A checkpoint written after epoch 7 that says 7 makes the resumed run train epoch 7 again.

`torch.save({"epoch": epoch, ...})` at the end of an epoch names the epoch that is over. `range(checkpoint["epoch"], epochs)` begins with
it once more: its data is seen twice, the schedule and the log are one epoch late, and each interruption adds another. Two runs of
the same length are not the same training.

Save the next one, `"epoch": epoch + 1`, or start at `checkpoint["epoch"] + 1`; not both.
"""

ROWS = ()
SOURCES = ("https://github.com/mozilla/DeepSpeech/issues/407", "https://github.com/mozilla/DeepSpeech/pull/415")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, list[int]], good: dict[str, list[int]]) -> None:
    assert bad["epochs"] == [0, 1, 1, 2]
    assert good["epochs"] == [0, 1, 2]
