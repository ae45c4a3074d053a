import torch


def inverted(model):
    for p in model.features.parameters():
        p.requires_grad = False
    return torch.optim.SGD(
        filter(lambda p: not p.requires_grad, model.parameters()),  # trap: frozen-parameters-chosen
        lr=0.1,
    )


def listed(model):
    return torch.optim.SGD([p for p in model.parameters() if not p.requires_grad], lr=0.1)  # trap: frozen-parameters-chosen


def right(model):
    frozen = [p for p in model.parameters() if not p.requires_grad]
    return torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1), frozen
