import torch
import torch.nn.functional as F

logits = torch.randn(64, 4, requires_grad=True)
labels = torch.randint(0, 4, (64,))
gamma = 2.0

ce = F.cross_entropy(logits, labels, reduction="none")
pt = torch.exp(-ce)
weight = (1 - pt) ** gamma
loss = (weight * ce).mean()

result = {"spread": (weight.max() - weight.min()).item()}
