import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
labels = torch.randint(0, 4, (400,))
pixels = torch.randint(0, 100, (400, 1, 8, 8), dtype=torch.uint8)
for n, label in enumerate(labels):
    pixels[n, 0, 2 * label : 2 * label + 2] = 255
images = pixels.float() / 255
loader = DataLoader(TensorDataset(images, labels), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for _ in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

with torch.no_grad():
    accuracy = (model(images).argmax(1) == labels).float().mean().item()
result = {"largest": images.max().item(), "accuracy": accuracy}
