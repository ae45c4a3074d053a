import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(16)]
k, windows = 4, []

for _ in range(3):
    optimizer.zero_grad()
    window = 0
    for i, (x, y) in enumerate(batches):
        loss = nn.functional.mse_loss(model(x), y) / k
        loss.backward()
        window += 1
        if i % k == 0:  # trap: accumulation-window-cut-short
            optimizer.step()
            optimizer.zero_grad()
            windows.append(window)
            window = 0

result = {"windows": windows[:4]}
