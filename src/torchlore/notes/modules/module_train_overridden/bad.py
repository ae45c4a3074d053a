import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x)

    def train(self, data=None, epochs=3):  # trap: module-train-overridden
        if not data:
            return self
        x, y = data
        optimizer = torch.optim.SGD(self.parameters(), lr=0.01)
        for _ in range(epochs):
            optimizer.zero_grad()
            nn.functional.mse_loss(self(x), y).backward()
            optimizer.step()
        return self


x = torch.randn(32, 4)
model = Regressor()
model.train((x, x.sum(1, keepdim=True)))
model.eval()
with torch.no_grad():
    difference = (model(x) - model(x)).abs().max().item()

result = {"difference": difference, "dropout_on": int(model.body[2].training)}
