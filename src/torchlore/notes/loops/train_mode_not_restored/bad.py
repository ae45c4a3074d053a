import torch
from torch import nn

x, y = torch.randn(16, 4), torch.randint(2, (16,))
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

modes = []
model.train()  # trap: train-mode-not-restored
for _ in range(3):
    modes.append(model.training)
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        print("loss", nn.functional.cross_entropy(model(x), y).item())

result = {"trained_in_train_mode": modes}
