import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def load(self, state):
        self.model = self.model.load_state_dict(state)  # trap: load-state-dict-assigned


def build(state, x):
    net = Net().load_state_dict(state)  # trap: load-state-dict-assigned
    net.eval()
    return net(x)


def optimizer_too(optimizer, state):
    optimizer = optimizer.load_state_dict(state)  # trap: load-state-dict-assigned
    return optimizer


def saved(model, best, path):
    torch.save(model.load_state_dict(best), path)  # trap: load-state-dict-assigned


def clean(model, state):
    report = model.load_state_dict(state, strict=False)
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not model.load_state_dict(state).missing_keys
    msg = Net().load_state_dict(state, strict=False)
    print(msg.missing_keys)
    model.report = model.load_state_dict(state, strict=False)
    return report, missing, unexpected
