import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn

torch.manual_seed(0)
x = torch.randn(512, 4) + 3
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16, momentum=0.5), nn.ReLU(), nn.Linear(16, 1))
average = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for _ in range(12):
    for part in torch.randperm(512).split(64):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[part]), y[part]).backward()
        optimizer.step()
    average.update_parameters(model)

update_bn(x.split(64), average)
average.eval()
with torch.no_grad():
    guess = average(x)
    hidden = average.module[0](x)
    error = (average.module[1].running_mean - hidden.mean(0)).abs().max().item()

result = {"error": error, "guess": guess.mean().item()}
