import torch
from torch.nn.utils.rnn import pad_sequence

rows = [torch.full((2,), 3.0), torch.full((6,), 3.0)]
values = pad_sequence(rows, batch_first=True)
mask = (values != 0).float()
means = (values * mask).sum(1) / mask.sum(1)

result = {"mean": means[0].item()}
