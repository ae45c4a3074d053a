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


def just_frozen(model):
    for p in model.features.parameters():
        p.requires_grad = False
    return torch.optim.SGD(model.features.parameters(), lr=0.1)  # trap: frozen-parameters-chosen


def the_rest(model):
    for p in model.features.parameters():
        p.requires_grad = False
    return torch.optim.SGD(model.classifier.parameters(), lr=0.1)


def with_a_new_head(net):
    for p in net.parameters():
        p.requires_grad = False
    net.fc = torch.nn.Linear(8, 2)
    return torch.optim.SGD(net.parameters(), lr=0.1)


def for_a_while(net, frozen):
    for p in net.body.parameters():
        p.requires_grad = not frozen
    return torch.optim.SGD(net.body.parameters(), lr=0.1)
