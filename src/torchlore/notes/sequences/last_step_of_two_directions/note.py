"""In a bidirectional RNN the last step of the outputs has read one word backwards, no more.

`out[:, -1]` joins the forward state after the whole sequence with the backward state after its very first word, the last of the
text. Half of the features know nothing of what came before, and the classifier learns from the other half. `h_n[-1]` is the
opposite mistake: it is the backward direction alone. Both train, both score a little worse than they should.

Take both ends: `torch.cat((h_n[-2], h_n[-1]), dim=1)`, or `torch.cat((out[:, -1, :size], out[:, 0, size:]), dim=1)`; a mean or
maximum over time is right as well.
"""

ROWS = ()
SOURCES = (
    "https://github.com/yunjey/pytorch-tutorial/issues/149",
    "https://github.com/prabhuomkar/pytorch-cpp/pull/13",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["seen_backwards"] == 0
    assert good["seen_backwards"] > 0
