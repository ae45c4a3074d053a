import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        features = self.encoder(x).data  # trap: gradient-cut-on-the-way
        return self.head(features)


model = Classifier()
before = model.encoder[0].weight.detach().clone()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(64, 8), torch.randint(3, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"encoder_moved": (model.encoder[0].weight.detach() - before).abs().max().item()}
