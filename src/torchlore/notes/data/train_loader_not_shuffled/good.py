import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

labels = torch.arange(6).repeat_interleave(40)  # as an image folder lists them: class by class
inputs = torch.randn(240, 8) + labels.unsqueeze(1)
data = TensorDataset(inputs, labels)
train_loader = DataLoader(data, batch_size=20, shuffle=True)
val_loader = DataLoader(TensorDataset(torch.randn(240, 8) + labels.unsqueeze(1), labels), batch_size=20)
model = nn.Linear(8, 6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

variety = []
for _ in range(2):
    for x, y in train_loader:
        variety.append(len(y.unique()))
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    with torch.no_grad():
        right = sum(int((model(x).argmax(1) == y).sum()) for x, y in val_loader)

result = {"classes_in_a_batch": sum(variety) / len(variety)}
