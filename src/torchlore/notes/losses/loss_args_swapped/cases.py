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


def distilled(x):
    student, teacher = nn.Linear(4, 4), nn.Linear(4, 4)
    with torch.no_grad():
        soft = teacher(x)
    kept = student(x)
    one = F.kl_div(F.log_softmax(soft, 1), F.softmax(kept, 1), reduction="batchmean")  # trap: loss-args-swapped
    return one + F.kl_div(F.log_softmax(kept, 1), F.softmax(soft, 1), reduction="batchmean")


def hinges(dist_ap, dist_an, sim_pos, sim_neg, margin):
    wrong = F.relu(dist_an - dist_ap + margin).mean()  # trap: loss-args-swapped
    return wrong + F.relu(dist_ap - dist_an + margin).mean() + F.relu(sim_neg - sim_pos + margin).mean()


def ranked(pos_score, neg_score):
    rank = nn.MarginRankingLoss(margin=1.0)
    ones = torch.ones(8)
    wrong = rank(neg_score, pos_score, ones)  # trap: loss-args-swapped
    return wrong + rank(pos_score, neg_score, ones) + rank(neg_score, pos_score, -ones)


class Contrastive(torch.nn.Module):
    def forward(self, a, b, y, margin=1.0):
        d = (a - b).norm(dim=1)
        return ((1 - y) * d**2 + y * torch.relu(margin - d) ** 2).mean()  # trap: loss-args-swapped


class ContrastiveOther(torch.nn.Module):
    def forward(self, a, b, apart, margin=1.0):
        d = (a - b).norm(dim=1)
        return ((1 - apart) * d**2 + apart * torch.relu(margin - d) ** 2).mean()


def of_pairs(net, a, b, who, other):
    same = (who == other).float()
    return Contrastive()(net(a), net(b), same) + ContrastiveOther()(net(a), net(b), (who != other).float())


def hinges(a, p, n, m, margin=0.3):
    far, near = (a - n).pow(2).sum(-1), (a - p).pow(2).sum(-1)
    one = torch.max(far - near + margin, torch.zeros_like(near))  # trap: loss-args-swapped
    sim_p, sim_n = torch.cosine_similarity(a, p), torch.cosine_similarity(a, n)
    two = torch.relu(m + sim_p - sim_n)  # trap: loss-args-swapped
    right = torch.relu(near - far + margin) + torch.relu(sim_n - sim_p + margin)
    return one + two + right
