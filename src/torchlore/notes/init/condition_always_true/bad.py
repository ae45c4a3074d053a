from torch import nn

model = nn.ModuleDict({"stem": nn.Linear(2, 2), "conv": nn.Linear(2, 2), "head": nn.Linear(2, 2)})
chosen = []
for name, parameter in model.named_parameters():
    if "conv" or "head" in name:  # trap: condition-always-true
        chosen.append(parameter)

result = {"chosen": len(chosen)}
