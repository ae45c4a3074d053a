import torch
import torch.nn.functional as F
from torch import nn

criterion = nn.CrossEntropyLoss()


def kept_dimension(out, target):
    loss = F.cross_entropy(out, target)
    pred = out.argmax(dim=1, keepdim=True)
    return loss, (pred == target).sum()  # trap: accuracy-of-mismatched-shapes


def kept_by_max(out: torch.Tensor, target):
    loss = criterion(out, target)
    pred = out.max(1, keepdim=True)[1]
    return loss, pred.eq(target).sum().item()  # trap: accuracy-of-mismatched-shapes


def column_of_labels(out, labels):
    _, pred = torch.max(out, 1)
    return (pred == labels.view(-1, 1)).float().mean()  # trap: accuracy-of-mismatched-shapes


def clean(out, target, labels):
    loss = F.nll_loss(out, target)
    pred = out.argmax(dim=1, keepdim=True)
    a = pred.eq(target.view_as(pred)).sum()
    b = (out.argmax(1) == target).sum()
    c = (pred == labels).sum()
    d = (pred.squeeze(1) == target).sum()
    _, top = out.topk(5, 1)
    e = (top == target.view(-1, 1)).any(1)
    f = (pred == target.unsqueeze(1)).sum()
    return loss, a, b, c, d, e, f


def top_k(out, target, k=5):
    F.cross_entropy(out, target)
    _, pred = out.topk(k, 1, True, True)
    pred = pred.t()
    return pred.eq(target.view(1, -1).expand_as(pred))


def binary_acc(y_pred, y_test):
    y_pred_tag = torch.round(torch.sigmoid(y_pred))
    return (y_pred_tag == y_test).sum().float() / y_test.shape[0]


def flat_acc(y_pred, y_test):
    return (torch.round(y_pred).squeeze(1) == y_test).float().mean()


def thresholds(model, loader, bce):
    loss_fn = nn.BCEWithLogitsLoss()
    for x, y in loader:
        out = model(x)
        loss = loss_fn(out, y.unsqueeze(1))
        pred = torch.sigmoid(out) > 0.5
        wrong = (pred == y).sum()  # trap: accuracy-of-mismatched-shapes
        helped = binary_acc(out, y)  # trap: accuracy-of-mismatched-shapes
        a = (pred == y.unsqueeze(1)).sum()
        b = (pred.squeeze(1) == y).sum()
        c = binary_acc(out, y.view(-1, 1)) + flat_acc(out, y)
        yield loss, wrong, helped, a, b, c


def whole_batch(out, target, heat):
    loss = F.cross_entropy(out, target)
    a = (torch.argmax(out) == target).sum()  # trap: accuracy-of-mismatched-shapes
    b = (out.argmax() == target).float().mean()  # trap: accuracy-of-mismatched-shapes
    c = (out.argmax(1) == target).sum()
    d = heat.argmax() == 3
    return loss, a, b, c, d


def seen_shapes():
    x = torch.randn(100, 8)
    y = (x[:, 0] > 0).long()
    net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 1))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=10)
    hits = same = 0
    for a, b in loader:
        pred = (torch.sigmoid(net(a)) > 0.5).long()
        hits += (pred == b).sum().item()  # trap: accuracy-of-mismatched-shapes
        hits += (pred.squeeze(1) == b).sum().item()
        hits += (pred == b.unsqueeze(1)).sum().item()
        same += (b[:, None] == b).sum().item()
    return hits, same
