import torch
from torch import nn

torch.manual_seed(0)
model = nn.ModuleDict({"stem": nn.Linear(4, 8), "body": nn.Linear(8, 8), "neck": nn.Linear(8, 8)})
features = {}
for name, layer in model.items():
    layer.register_forward_hook(lambda _m, _i, o: features.update({name: o.detach()}))  # trap: closure-over-loop-variable

with torch.no_grad():
    x = torch.randn(2, 4)
    for layer in model.values():
        x = layer(x)

result = {"features": len(features)}
