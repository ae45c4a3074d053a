import torch
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, alpha, gamma=2.0):
        super().__init__()
        self.register_buffer("alpha", alpha)
        self.gamma = gamma

    def forward(self, logits, target):
        log_p = torch.log_softmax(logits, dim=1).gather(1, target[:, None]).squeeze(1)
        alpha_t = self.alpha[target]
        loss = -alpha_t * ((1 - log_p.exp()) ** self.gamma) * log_p
        return loss.mean()


criterion = FocalLoss(torch.tensor([0.1, 0.9]))
logits = torch.zeros(1, 2)
common, rare = criterion(logits, torch.tensor([0])), criterion(logits, torch.tensor([1]))
result = {"ratio": (rare / common).item()}
