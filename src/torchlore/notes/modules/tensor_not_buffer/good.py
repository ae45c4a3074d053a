import torch
from torch import nn


class Normalise(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.register_buffer("mean", torch.zeros(features))
        self.fc = nn.Linear(features, 2)

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(x.mean(0).to(self.mean.dtype), 0.1)
        return self.fc(x - self.mean)


model = Normalise(4)
for _ in range(100):
    model(torch.randn(32, 4) + 10)
x = torch.randn(8, 4) + 10
wanted = model.eval()(x)

restored = Normalise(4).eval()
restored.load_state_dict(model.state_dict())
gap = (restored(x) - wanted).abs().max().item()

result = {"error_after_loading": gap, "dtype": str(model.double().mean.dtype)}
