import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width, keep_prob=0.95):
        super().__init__()
        self.drop = nn.Dropout(1 - keep_prob)
        self.fc = nn.Linear(width, 2)

    def forward(self, x):
        return self.fc(self.drop(x))


torch.manual_seed(0)
head = Head(1000)
out = head.drop(torch.ones(8, 1000))
head(torch.ones(8, 1000))
result = {"left": (out != 0).float().mean().item()}
