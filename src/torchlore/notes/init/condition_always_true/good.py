from torch import nn

model = nn.ModuleDict({"stem": nn.Linear(2, 2), "conv": nn.Linear(2, 2), "head": nn.Linear(2, 2)})
chosen = []
for name, parameter in model.named_parameters():
    if "conv" in name or "head" in name:
        chosen.append(parameter)

result = {"chosen": len(chosen)}
