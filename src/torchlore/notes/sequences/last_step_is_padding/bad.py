import torch
from torch import nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 2)

    def forward(self, x, lengths):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])  # trap: last-step-is-padding


model, lengths = Reader(), torch.tensor([3, 5])
x = torch.randn(2, 5, 4)
x[0, 3:] = 0
longer = torch.cat([x, torch.zeros(2, 4, 4)], dim=1)

result = {"depends_on_padding": (model(x, lengths) - model(longer, lengths)).abs().max().item()}
