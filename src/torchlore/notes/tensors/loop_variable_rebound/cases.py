import torch
from torch import nn


def by_hand(model: nn.Module, lr: float) -> None:
    with torch.no_grad():
        for p in model.parameters():
            p = p - lr * p.grad  # trap: loop-variable-rebound


def clipped(critic: nn.Module) -> None:
    for name, p in critic.named_parameters():
        if name:
            print(name)
        p = p.clamp(-0.01, 0.01)  # trap: loop-variable-rebound


def numbered(one: nn.Module, two: nn.Module, tau: float) -> None:
    for i, (a, b) in enumerate(zip(one.parameters(), two.parameters(), strict=True)):
        a = tau * b + (1 - tau) * a  # trap: loop-variable-rebound
    print("updated")
    for param, kept in zip(one.parameters(), two.parameters(), strict=True):
        param = kept  # trap: loop-variable-rebound


def collected(model: nn.Module) -> list[torch.Tensor]:
    kept = []
    for p in model.parameters():
        p = p.detach().clone()
        kept.append(p)
    return kept


def in_place(one: nn.Module, two: nn.Module) -> None:
    with torch.no_grad():
        for a, b in zip(one.parameters(), two.parameters(), strict=True):
            a.copy_(0.9 * a + 0.1 * b)


def last_one(model: nn.Module) -> torch.Tensor:
    for p in model.parameters():
        p = p * 2
    return p


def names(model: nn.Module) -> None:
    for name, p in model.named_parameters():
        name = name.replace("module.", "")
        print(name, p.shape)


def a_part_nobody_needs(loader, model: nn.Module, device: str) -> int:
    right = 0
    for _, (x, y, domain) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        domain = domain.to(device)
        right += (model(x).argmax(1) == y).sum().item()
    return right


def averaged(average, model, decay):
    for mean, now in zip(average.state_dict().values(), model.state_dict().values()):
        mean = decay * mean + (1 - decay) * now  # trap: loop-variable-rebound


def averaged_well(average, model, decay):
    for mean, now in zip(average.state_dict().values(), model.state_dict().values()):
        mean.mul_(decay).add_(now, alpha=1 - decay)
    kept = {}
    for name, value in model.state_dict().items():
        value = value.cpu()
        kept[name] = value
    return kept
