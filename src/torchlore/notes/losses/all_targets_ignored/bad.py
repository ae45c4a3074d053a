import torch
import torch.nn.functional as F
from torch import nn

images = torch.randn(12, 3, 8, 8)
masks = (images.mean(1) > 0).long()
masks[8:] = 255  # tiles that nobody has labelled

model = nn.Conv2d(3, 2, 3, padding=1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for x, y in zip(images.split(4), masks.split(4)):
    loss = F.cross_entropy(model(x), y, ignore_index=255)  # trap: all-targets-ignored
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()

result = {"average": total / 3}
