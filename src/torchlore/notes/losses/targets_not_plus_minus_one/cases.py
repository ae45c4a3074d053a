import torch
from torch import nn

criterion = nn.CosineEmbeddingLoss(margin=0.2)
ranking = nn.MarginRankingLoss()


def pairs(n):
    a, b = torch.randint(0, 4, (n,)), torch.randint(0, 4, (n,))
    return a, b, (a == b).float()


def signed(n):
    a, b = torch.randint(0, 4, (n,)), torch.randint(0, 4, (n,))
    return a, b, (a == b).float() * 2 - 1


def train(net, x):
    a, b, same = pairs(32)
    criterion(net(x[a]), net(x[b]), same).backward()  # trap: targets-not-plus-minus-one
    a, b, sign = signed(32)
    criterion(net(x[a]), net(x[b]), sign).backward()
    better = torch.cat([torch.ones(16), torch.zeros(16)])
    ranking(net(x[a]), net(x[b]), better).backward()  # trap: targets-not-plus-minus-one
    ranking(net(x[a]), net(x[b]), torch.where(a > b, 1.0, -1.0)).backward()
    ranking(net(x[a]), net(x[b]), torch.ones(32)).backward()
