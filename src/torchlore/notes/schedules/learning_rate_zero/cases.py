import torch
from torch import nn

model = nn.Linear(4, 1)
still = torch.optim.SGD(model.parameters(), lr=0.0)  # trap: learning-rate-zero
loaded = torch.optim.Adam(model.parameters(), lr=0)
loaded.load_state_dict(torch.load("optimizer.pt", map_location="cpu"))
only_zeroed = torch.optim.Adam(model.parameters(), lr=0.0)

for x, y in [(torch.ones(2, 4), torch.ones(2, 1))] * 3:
    for optimizer in (still, loaded, only_zeroed):
        optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    still.step()
    loaded.step()
