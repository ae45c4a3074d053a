import io

import torch
from torch import nn
from torch.utils.data import random_split

data = torch.utils.data.TensorDataset(torch.randn(1000, 4))
model = nn.Linear(4, 1)
file = io.BytesIO()


def run(resume):
    train, val = random_split(data, [900, 100])  # trap: split-drawn-anew
    if resume:
        file.seek(0)
        model.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(data[train.indices][0]).pow(2).mean().backward()
    optimizer.step()
    file.seek(0)
    torch.save(model.state_dict(), file)
    return set(train.indices), set(val.indices)


first, _ = run(resume=False)
_, second = run(resume=True)

result = {"trained": len(first & second)}
