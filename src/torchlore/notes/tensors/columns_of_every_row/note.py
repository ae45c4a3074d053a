"""`q[:, actions]` takes all these columns of every row: a table, not one number for each row.

A network gives (batch, choices), and each row has one choice of its own: its action, its label. `q[:, actions]` looks like it, and
gives the columns of all actions for every row. The difference to the rewards (batch,) broadcasts without a word, and each row
is trained on what the others did.

Pair the rows with the columns: `q[torch.arange(len(q)), actions]`, or `q.gather(1, actions[:, None]).squeeze(1)`.
"""

ROWS = ()
SOURCES = ("https://pytorch.org/docs/stable/generated/torch.gather.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["numbers"] == 64
    assert good["numbers"] == 8
