import torch
from torch import nn


class Net(nn.Module):
    def __int__(self):  # trap: misspelt-method
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


model, error = Net(), ""
try:
    model(torch.randn(3, 4))
except AttributeError as problem:
    error = type(problem).__name__

result = {"error": error, "parameters": len(list(model.parameters()))}
