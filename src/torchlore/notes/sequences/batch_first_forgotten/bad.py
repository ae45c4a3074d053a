import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 16)  # trap: batch-first-forgotten
        self.fc = nn.Linear(16, 2)

    def forward(self, x):  # (batch, time, features)
        out, _ = self.rnn(x)
        return self.fc(out[:, -1])


model = Classifier().eval()
x = torch.randn(8, 12, 6)
alone = model(x[4:5])
together = model(x)[4:5]
loss = nn.functional.cross_entropy(model(x), torch.arange(8) % 2)

result = {"depends_on_neighbours": (alone - together).abs().max().item()}
