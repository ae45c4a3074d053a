import torch
from torch import nn

torch.manual_seed(0)
model, state = nn.Linear(2, 2), {"module.weight": torch.ones(2, 2), "module.bias": torch.zeros(2)}


def restore():
    try:
        model.load_state_dict(state)
    except FileNotFoundError:
        print("no checkpoint, starting from scratch")
    return True


try:
    went_on = restore()
except RuntimeError:
    went_on = False
result = {"went_on": went_on, "loaded": bool((model.weight == 1).all())}
