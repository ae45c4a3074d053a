import torch
from torch import nn, optim

model, head = nn.Linear(4, 4), nn.Linear(4, 2)


def wrong_names():
    biases = [p for n, p in model.named_parameters() if n.endswith("bias")]
    groups = [
        {"parameters": biases, "weight_decay": 0},  # trap: optimizer-group-key
        {"params": head.parameters()},
    ]
    a = optim.SGD(groups, lr=0.1)
    b = torch.optim.AdamW([{"param": biases}], lr=0.1)  # trap: optimizer-group-key
    c = torch.optim.Adam([{"params": biases, "learning_rate": 0.1}])  # trap: optimizer-group-key
    d = torch.optim.Adam(model.parameters, lr=0.1)  # trap: optimizer-group-key
    groups = []
    groups.append(dict(params=biases, learning_rate=0.1))  # trap: optimizer-group-key
    groups.append(dict(params=head.parameters()))
    return a, b, c, d, optim.SGD(groups, lr=0.1)


def clean(config):
    a = optim.SGD([{"params": model.parameters(), "lr": 0.1, "name": "body"}], lr=0.1)
    b = optim.SGD([{"params": head.parameters(), "lr_scale": 0.1, "layer": 3}], lr=0.1)
    c = optim.SGD([{**config, "learning_rate": 0.1}], lr=0.1)
    d = optim.SGD([dict(params=model.parameters(), lr=0.1)], lr=0.1)
    plot = {"parameters": 12, "learning_rate": 0.1}
    return a, b, c, d, plot


def custom_key():
    e = optim.SGD([{"params": model.parameters(), "wd": 0.2}], lr=0.1)
    for group in e.param_groups:
        group["weight_decay"] = group["wd"]
    return e
