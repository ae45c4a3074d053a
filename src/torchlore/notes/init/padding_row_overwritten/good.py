import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8, padding_idx=0)
        self.fc = nn.Linear(8, 2)
        self.embedding.weight.data.uniform_(-0.5, 0.5)
        self.embedding.weight.data[0].zero_()

    def forward(self, ids):
        return self.fc(self.embedding(ids).sum(1))


torch.manual_seed(0)
model = Bag()
ids = torch.randint(1, 20, (4, 6))
longer = nn.functional.pad(ids, (0, 10))
result = {"changed_by_padding": (model(ids) - model(longer)).abs().max().item()}
