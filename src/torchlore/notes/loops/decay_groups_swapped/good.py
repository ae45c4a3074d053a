import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 1))
no_decay = ["bias", "1.weight"]
groups = [
    {
        "params": [p for n, p in model.named_parameters() if not any(word in n for word in no_decay)],
        "weight_decay": 0.5,
    },
    {
        "params": [p for n, p in model.named_parameters() if any(word in n for word in no_decay)],
        "weight_decay": 0.0,
    },
]
optimizer = torch.optim.AdamW(groups, lr=1e-2)
for _ in range(100):
    x = torch.randn(32, 4)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
result = {"scale": model[1].weight.mean().item()}
