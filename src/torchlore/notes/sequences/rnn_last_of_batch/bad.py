import torch
from torch import nn

rnn = nn.GRU(4, 8, batch_first=True)
head = nn.Linear(8, 1)
x = torch.randn(6, 6, 4, requires_grad=True)  # as many samples as time steps

out, _ = rnn(x)
score = head(out[-1])  # trap: rnn-last-of-batch
score[0].sum().backward()

result = {"depends_on_itself": x.grad[0].abs().sum().item()}
