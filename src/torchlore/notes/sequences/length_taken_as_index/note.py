"""A length is one past the last index: `pe[:, x.size(1)]` is one position for all of them.

`x + self.pe[:, : x.size(1)]` adds to each position its own encoding. Without the colon, `self.pe[:, x.size(1)]` is the single encoding
behind the last position, and broadcasting adds it to all. Nothing fails as long as the table is longer than the sequence. The
network cannot tell the positions apart; attention sees a bag of words.

Write the slice: `self.pe[:, : x.size(1)]`. A tensor of the shape that is expected, compared once in a test, finds this at once.
"""

ROWS = ()
SOURCES = ("https://github.com/DiffPoseTalk/DiffPoseTalk/issues/20",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["positions"] == 1
    assert good["positions"] == 5
