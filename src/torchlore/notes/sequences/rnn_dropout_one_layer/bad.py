import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
rnn = nn.LSTM(8, 16, batch_first=True, dropout=0.5)  # trap: rnn-dropout-one-layer
x = torch.randn(4, 10, 8)
first, second = rnn(x)[0], rnn(x)[0]

result = {"difference": (first - second).abs().max().item()}
