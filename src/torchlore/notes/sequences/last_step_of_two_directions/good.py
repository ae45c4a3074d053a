import torch
from torch import nn


class BiRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4, batch_first=True, bidirectional=True)

    def forward(self, x):
        _, (last, _) = self.rnn(x)
        return torch.cat((last[-2], last[-1]), dim=1)


torch.manual_seed(0)
model, x = BiRNN(), torch.randn(2, 6, 3, requires_grad=True)
model(x)[:, 4:].sum().backward()
result = {"seen_backwards": x.grad[:, :-1].abs().sum().item()}
