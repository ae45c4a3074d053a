import torch
from torch import nn

embed, out = nn.Embedding(30, 16), nn.Linear(16, 30)
attention = nn.MultiheadAttention(16, 2, batch_first=True)
words = torch.randint(0, 30, (8, 13))


def model(ids):
    x = embed(ids)
    x = x + attention(x, x, x, need_weights=False)[0]  # trap: language-model-sees-the-answer
    return out(x)


ids, target = words[:, :-1], words[:, 1:]
nn.functional.cross_entropy(model(ids).flatten(0, 1), target.flatten()).backward()
other = ids.clone()
other[:, -1] = (other[:, -1] + 1) % 30
result = {"sees_the_future": (model(ids) - model(other))[:, 0].abs().max().item()}
