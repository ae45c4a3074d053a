import pathlib
import tempfile

import torch

root = pathlib.Path(tempfile.mkdtemp())
for kind in ("oak", "ash", "elm", "fir", "yew"):
    (root / kind).mkdir()
classes = sorted(one.name for one in root.iterdir())
labels = torch.tensor([classes.index(kind) for kind in ("ash", "elm")])

result = {"classes": classes}
