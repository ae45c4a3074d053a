import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(64, 32), torch.randint(0, 2, (64,))
loaders = {
    "train": DataLoader(TensorDataset(x[:32], y[:32]), batch_size=16, shuffle=True),
    "val": DataLoader(TensorDataset(x[32:], y[32:]), batch_size=16),
}
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for _ in range(50):
    for phase in ("train", "val"):
        model.train(phase == "train")
        correct = 0
        for inputs, labels in loaders[phase]:
            optimizer.zero_grad()
            logits = model(inputs)
            nn.functional.cross_entropy(logits, labels).backward()  # trap: steps-in-evaluation
            optimizer.step()
            correct += (logits.argmax(1) == labels).sum().item()

result = {"accuracy": correct / 32}
