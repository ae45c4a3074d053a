"""A small CNN on the GPU, to be run plainly and under `lore watch`: the printed line must be the same to the last digit.

python bench/watch_gpu.py; python -m torchlore watch bench/watch_gpu.py
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
layers = [nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Dropout(0.1), nn.AdaptiveAvgPool2d(4)]
model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(128, 3, 32, 32).cuda(), torch.randint(10, (128,)).cuda()

for _ in range(300):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

total = sum(p.double().sum().item() for p in model.parameters())
print(loss.item(), total, torch.rand(1).item(), torch.rand(1, device="cuda").item())
