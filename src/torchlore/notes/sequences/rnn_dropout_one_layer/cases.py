import torch.nn as nn
from torch.nn import GRU

a = GRU(4, 8, dropout=0.2)  # trap: rnn-dropout-one-layer
b = nn.RNN(4, 8, 1, dropout=0.1, batch_first=True)  # trap: rnn-dropout-one-layer
c = nn.LSTM(4, 8, num_layers=1, bidirectional=True, dropout=0.5)  # trap: rnn-dropout-one-layer
d = nn.LSTM(4, 8, num_layers=2, dropout=0.5)
e = nn.LSTM(4, 8, dropout=0.0)


def build(layers, rate, options):
    f = nn.GRU(4, 8, layers, dropout=0.5)
    g = nn.GRU(4, 8, dropout=rate)
    return f, g, nn.GRU(4, 8, dropout=0.5, **options)
