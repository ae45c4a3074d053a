"""Other spellings of best-state-never-restored, and code that only looks like it."""

import copy

import torch


def cloned(net, loader, optimizer, criterion, score):
    best, kept = 0.0, None
    for _ in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()
        if score(net) > best:
            best = score(net)
            kept = {k: v.cpu().clone() for k, v in net.state_dict().items()}  # trap: best-state-never-restored
    return net, best


# clean
def returned(net, loader, optimizer, criterion, score):
    best, kept, other = 0.0, None, None
    for _ in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()
        if score(net) > best:
            best = score(net)
            kept = copy.deepcopy(net.state_dict())
            other = {k: v.clone() for k, v in net.state_dict().items()}
    torch.save(other, "best.pt")
    return kept


def files(net, train, score, folder):
    best, best_epoch = 0.0, 0
    for epoch in range(5):
        train(net)
        torch.save(net.state_dict(), f"{folder}/{epoch}.pt")
        if score(net) > best:
            best, best_epoch = score(net), epoch
    print(best_epoch)
    net.load_state_dict(torch.load(f"{folder}/{epoch}.pt", map_location="cpu"))  # trap: best-state-never-restored
    net.load_state_dict(torch.load(f"{folder}/{best_epoch}.pt", map_location="cpu"))
    return net
