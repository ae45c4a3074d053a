import warnings

import torch
from torch import nn

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    criterion = nn.CrossEntropyLoss(size_average=False)  # trap: size-average-reduce

logits = torch.randn(16, 5)
labels = torch.randint(0, 5, (16,))
loss = criterion(logits, labels)

result = {"loss": loss.item(), "warnings": len(seen)}
