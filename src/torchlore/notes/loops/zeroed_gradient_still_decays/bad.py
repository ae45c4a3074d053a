import torch
from torch import nn

torch.manual_seed(0)
words, net = nn.Embedding(10, 4), nn.Linear(4, 2).requires_grad_(False)
known = torch.arange(10) != 9  # only the last word is new
before = words.weight.detach().clone()
optimizer = torch.optim.AdamW(words.parameters(), lr=0.01)  # trap: zeroed-gradient-still-decays
for _ in range(20):
    ids, labels = torch.randint(10, (16,)), torch.randint(2, (16,))
    loss = nn.functional.cross_entropy(net(words(ids)), labels)
    optimizer.zero_grad()
    loss.backward()
    words.weight.grad[known] = 0
    optimizer.step()
result = {"moved": float((words.weight.detach() - before)[known].abs().max())}
