import torch
from sklearn.model_selection import KFold
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(100, 30), torch.randint(0, 2, (100,))
model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 2))  # trap: one-model-for-all-folds
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scores = []
for train, test in KFold(n_splits=5, shuffle=True, random_state=0).split(x):
    for _ in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[train]), y[train]).backward()
        optimizer.step()
    with torch.no_grad():
        scores.append((model(x[test]).argmax(1) == y[test]).float().mean().item())
result = {"accuracy": sum(scores) / len(scores)}
