import torch
from torch import nn

weight = torch.tensor([1.0, 1.0, 20.0])
criterion = nn.CrossEntropyLoss(weight=weight, reduction="none")
labels = torch.multinomial(torch.tensor([0.5, 0.45, 0.05]), 400, replacement=True)
logits = torch.zeros(400, 3)

losses = []
for i in torch.arange(400).split(50):
    loss = criterion(logits[i], labels[i]).sum() / weight[labels[i]].sum()
    losses.append(loss.item())

result = {"losses": losses}
