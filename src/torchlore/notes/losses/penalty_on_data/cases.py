import torch
from torch import nn


def augmented(model, loader, opt, lam):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        l1 = 0
        for name, p in model.named_parameters():
            if "bias" not in name:
                l1 += p.data.abs().sum()  # trap: penalty-on-data
        loss = loss + lam * l1
        opt.zero_grad()
        loss.backward()
        opt.step()


def generated(model, loader, opt, lam):
    for x, y in loader:
        penalty = sum(p.detach().pow(2).sum() for p in model.parameters())  # trap: penalty-on-data
        total = nn.functional.cross_entropy(model(x), y) + lam * penalty
        opt.zero_grad()
        total.backward()
        opt.step()


def onto_the_loss(model, loader, opt, lam):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        reg = torch.tensor(0.0)
        for p in model.parameters():
            reg = reg + torch.norm(p.data)  # trap: penalty-on-data
        loss += lam * reg
        opt.zero_grad()
        loss.backward()
        opt.step()


# clean
def logged(model, loader, opt):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        size = 0.0
        for p in model.parameters():
            size += p.data.norm().item()
        print(size)


def right(model, loader, opt, lam, anchor):
    for x, y in loader:
        penalty = sum((p - q.data).pow(2).sum() for p, q in zip(model.parameters(), anchor.parameters(), strict=True))
        loss = nn.functional.cross_entropy(model(x), y) + lam * penalty
        opt.zero_grad()
        loss.backward()
        opt.step()


def strength(model):
    return sum(p.data.pow(2).sum() for p in model.parameters())  # trap: penalty-on-data


def l1(model, lam):
    total = 0
    for p in model.parameters():
        total += p.detach().abs().sum()  # trap: penalty-on-data
    return lam * total


def helped(model, x, y, opt):
    loss = nn.functional.mse_loss(model(x), y) + 1e-3 * strength(model) + l1(model, 0.1)
    loss.backward()
    opt.step()


def size(model):
    return sum(p.data.pow(2).sum() for p in model.parameters()) ** 0.5


def only_printed(model, x, y, opt):
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    print(loss.item() + size(model))


def footprint(model: nn.Module, bits):
    total = 0
    for p in model.parameters():
        total += p.data.numel() * bits
    for child in model.children():
        total += footprint(child, bits)
    return total
