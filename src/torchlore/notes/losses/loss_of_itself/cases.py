import torch
from torch import nn
from torch.nn import functional as F


def distill(student, teacher, x, temperature):
    guess = student(x)
    with torch.no_grad():
        wanted = teacher(x)
    soft = nn.KLDivLoss(reduction="batchmean")(
        F.log_softmax(guess / temperature, dim=1), F.softmax(wanted / temperature, dim=1)
    )
    wrong = nn.KLDivLoss(reduction="batchmean")(  # trap: loss-of-itself
        F.log_softmax(guess / temperature, dim=1), F.softmax(guess / temperature, dim=1)
    )
    return soft + wrong


def rebuild(net, image, mask):
    back = net(image)
    shown = F.mse_loss(back, back)  # trap: loss-of-itself
    inside = F.mse_loss(mask * back, mask * image)
    entropy = F.binary_cross_entropy(torch.sigmoid(back), torch.sigmoid(back))
    first = back
    back = net(back)
    return shown + inside + entropy + F.l1_loss(back, first)
