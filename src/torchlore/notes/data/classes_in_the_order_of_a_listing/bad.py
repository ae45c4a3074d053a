import os
import tempfile

import torch

root = tempfile.mkdtemp()
for kind in ("oak", "ash", "elm", "fir", "yew"):
    os.makedirs(os.path.join(root, kind))
classes = os.listdir(root)  # trap: classes-in-the-order-of-a-listing
labels = torch.tensor([classes.index(kind) for kind in ("ash", "elm")])

result = {"classes": classes}
