import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 3))
bce, ce = nn.BCEWithLogitsLoss(), nn.CrossEntropyLoss()


def bad(x, y, target, labels):
    a = bce(target, net(x))  # trap: loss-args-swapped
    out = torch.sigmoid(net(x))
    b = F.binary_cross_entropy(labels, out)  # trap: loss-args-swapped
    return a + b + ce(y, net(x))  # trap: loss-args-swapped


def fine(x, y, target, teacher, scores):
    a = ce(net(x), target) + F.cross_entropy(input=net(x), target=y)
    b = F.mse_loss(target, net(x))  # symmetric
    c = ce(scores, y) + ce(target, teacher)
    d = F.binary_cross_entropy_with_logits(target=y, input=net(x))
    return a + b + c + d


def triplets(net, loader, opt):
    criterion = nn.TripletMarginLoss(margin=0.5)
    for anchor, positive, negative in loader:
        a, p, n = net(anchor), net(positive), net(negative)
        loss = criterion(a, n, p)  # trap: loss-args-swapped
        right = criterion(a, p, n)
        opt.zero_grad()
        (loss + right).backward()
        opt.step()
