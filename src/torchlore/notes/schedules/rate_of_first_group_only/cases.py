import torch


def one_group(model, rate):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    optimizer.param_groups[0]["lr"] = rate / 10
    return optimizer
