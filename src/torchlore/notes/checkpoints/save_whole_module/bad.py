import os
import pickle
import tempfile

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


net = Net()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net.pt")
    torch.save(net, path)  # trap: save-whole-module
    try:
        again = torch.load(path, map_location="cpu", weights_only=True)
        loaded = "same weights"
    except pickle.UnpicklingError as error:
        loaded = type(error).__name__

result = {"loaded": loaded}
