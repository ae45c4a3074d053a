"""A loop over the loader whose turns never read their batch trains on one batch, again and again.

`images, labels = next(iter(loader))` was there to look at the data. The loop below is `for imgs, lbls in loader:` and its body says
`model(images)`: the name outlives the line that made it, each turn runs, the loss falls quickly, and the network has seen one batch. The
same happens where the loop was copied and one name was changed.

Use the names that the loop binds.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["seen"] == 1
    assert good["seen"] == 8
