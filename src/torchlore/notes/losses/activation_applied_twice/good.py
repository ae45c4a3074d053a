import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def dice(probabilities, target):
    overlap = (probabilities * target).sum()
    return 1 - (2 * overlap + 1) / (probabilities.sum() + target.sum() + 1)


def loss_of(logits, masks):
    probabilities = F.softmax(logits, dim=1)
    return sum(dice(probabilities[:, i], masks[:, i]) for i in range(3)) / 3


net = nn.Conv2d(3, 3, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.3)
for _ in range(60):
    labels = torch.randint(0, 3, (2, 8, 8))
    masks = F.one_hot(labels, 3).permute(0, 3, 1, 2).float()
    loss = loss_of(net(10 * masks), masks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"least_loss": loss.item()}
