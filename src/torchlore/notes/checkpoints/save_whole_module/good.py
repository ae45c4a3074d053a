import tempfile
from pathlib import Path

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(x)


net = Net()
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "net.pt"
    torch.save(net.state_dict(), path)
    again = Net()
    again.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    loaded = "same weights" if torch.equal(net.fc.weight, again.fc.weight) else "other weights"

result = {"loaded": loaded}
