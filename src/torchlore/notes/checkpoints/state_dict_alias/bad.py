import copy

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(40, 4), torch.randn(40, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
first = copy.deepcopy(model)

best, best_state = float("inf"), None
for _ in range(5):
    with torch.no_grad():
        score = nn.functional.mse_loss(model(x), y).item()
    if score < best:
        best = score
        best_state = model.state_dict()  # trap: state-dict-alias
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()

model.load_state_dict(best_state)
with torch.no_grad():
    result = {"best": best, "restored": nn.functional.mse_loss(model(x), y).item()}
