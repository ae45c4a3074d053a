import torch
from torch import nn

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
x = torch.randn(128, 6)
y = (x[:, 0] > x[:, 1]).long()


def accuracy(model):
    model.eval()
    with torch.set_grad_enabled(False):
        right = (model(x).argmax(1) == y).float().mean()
    model.train()
    return right.item()


losses = []
for epoch in range(6):
    loss = nn.functional.cross_entropy(model(x), y)
    losses.append(loss.item())
    optimizer.zero_grad()
    if loss.requires_grad:
        loss.backward()
    optimizer.step()
    print(epoch, accuracy(model))

torch.set_grad_enabled(True)  # for whatever runs next in this process
result = {"second_loss": losses[1], "last_loss": losses[-1]}
