import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Weighted(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.register_buffer("alpha", torch.tensor(weights))

    def forward(self, logits, labels):
        loss = F.cross_entropy(logits, labels, reduction="none")
        alpha = self.alpha.gather(0, labels)
        return (alpha * loss).mean()


loss_fn = Weighted([1.0, 10.0, 100.0])
for _ in range(3):
    loss_fn(torch.randn(32, 3), torch.randint(0, 3, (32,)))

result = {"weights_kept": float(loss_fn.alpha.shape[0] == 3)}
