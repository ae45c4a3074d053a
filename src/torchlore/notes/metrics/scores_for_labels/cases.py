import torch
from sklearn.metrics import accuracy_score


def by_index(model, loader):
    hits = 0
    for images, targets in loader:
        pred = model(images).max(1, keepdim=True)[0]  # trap: scores-for-labels
        hits += pred.eq(targets.view_as(pred)).sum().item()
    return hits


def by_name(model, loader):
    found, labels = [], []
    for images, target in loader:
        best = torch.max(model(images), dim=1).values  # trap: scores-for-labels
        print(torch.eq(best.cpu(), target).sum())
        found.extend(model(images).argmax(1).tolist())
        labels.extend(target.tolist())
    return accuracy_score(labels, found)


def right(model, loader):
    hits = 0
    for images, labels in loader:
        out = model(images)
        score, pred = out.max(dim=1)
        top = out == out.max(dim=1, keepdim=True)[0]
        hits += (pred == labels).sum().item() + (score == out.max(1)[0]).sum().item() + top.sum().item()
        both = torch.max(out[:, 0], out[:, 1])
        hits += (out.topk(5)[1] == labels[:, None]).any(1).sum().item() + (both[0] > 0.5).item()
    return hits


def of_time_series(labels, target):
    start, end = labels.max(1)[0], target.max(1)[0]
    return (start == end).float().mean()


def scores_for_classes(out, labels):
    preds, _ = torch.max(out, 1)  # trap: scores-for-labels
    return (preds == labels).sum().item()


def first_half(out, y):
    pred = out.max(dim=1)[0]  # trap: scores-for-labels
    return (pred == y).float().mean()


def second_half(out, labels):
    best, preds = torch.max(out, 1)
    peaks = (out == best[:, None]).sum()
    return (preds == labels).sum().item() + peaks


def probabilities(out, labels):
    prob = torch.sigmoid(out)
    return (prob == labels).sum().item()  # trap: scores-for-labels


def rounded_in_place(out, labels):
    prob = torch.sigmoid(out)
    prob[prob > 0.5] = 1.0
    prob[prob < 0.5] = 0.0
    return (prob == labels).sum().item() + (torch.sigmoid(out).round() == labels).sum().item()
