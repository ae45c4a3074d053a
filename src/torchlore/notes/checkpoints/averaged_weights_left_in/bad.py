import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.9):
        self.model, self.decay, self.backup = model, decay, {}
        self.shadow = {name: param.data.clone() for name, param in model.named_parameters()}

    def update(self):
        for name, param in self.model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * param.data

    def apply_shadow(self):
        for name, param in self.model.named_parameters():
            self.backup[name], param.data = param.data, self.shadow[name].clone()

    def restore(self):
        for name, param in self.model.named_parameters():
            param.data = self.backup[name]


torch.manual_seed(0)
model, lost = nn.Linear(4, 1), 0.0
ema, optimizer = EMA(model), torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for _ in range(3):
    for _step in range(10):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        ema.update()
    trained = model.weight.detach().clone()
    ema.apply_shadow()  # trap: averaged-weights-left-in
    with torch.no_grad():
        print(nn.functional.mse_loss(model(x), y).item())
    lost += (model.weight - trained).abs().sum().item()
result = {"lost": lost}
