import io

import torch
from torch import nn

x = torch.linspace(-1, 1, 64).unsqueeze(1)


def build():
    torch.manual_seed(0)
    net = nn.Linear(1, 1)
    return net, torch.optim.Adam(net.parameters(), lr=0.1)


def train(net, optimizer, start, stop, file):
    for epoch in range(start, stop):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), 3 * x).backward()
        optimizer.step()
        file.seek(0)
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, file)
    return net.weight.item()


whole = train(*build(), 0, 20, io.BytesIO())
file = io.BytesIO()
train(*build(), 0, 10, file)
file.seek(0)
net, optimizer = build()
checkpoint = torch.load(file, map_location="cpu")
net.load_state_dict(checkpoint["net"])  # trap: saved-state-not-loaded
start = checkpoint["epoch"] + 1
result = {"apart": abs(train(net, optimizer, start, 20, io.BytesIO()) - whole)}
