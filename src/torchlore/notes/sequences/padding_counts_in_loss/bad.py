import torch
import torch.nn.functional as F
from torch import nn

PAD, WORDS = 0, 20
model = nn.Sequential(nn.Embedding(WORDS, 8, padding_idx=PAD), nn.Linear(8, WORDS))
ids = torch.randint(1, WORDS, (8, 12))
ids[:, 7:] = PAD
logits = model(ids[:, :-1])
logits.retain_grad()
target = ids[:, 1:]

F.cross_entropy(logits.transpose(1, 2), target).backward()  # trap: padding-counts-in-loss
result = {"gradient_on_padding": logits.grad[target == PAD].abs().sum().item()}
