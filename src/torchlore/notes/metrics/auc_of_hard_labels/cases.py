import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score


def collected(model, loader):
    truth, found, scores = [], [], []
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            _, pred = torch.max(out, 1)
            found.extend(pred.cpu().numpy())
            scores.append(out.softmax(1)[:, 1].cpu().numpy())
            truth.extend(y.cpu().numpy())
    print(f1_score(truth, found))
    right = roc_auc_score(truth, np.concatenate(scores))
    return roc_auc_score(truth, found), right  # trap: auc-of-hard-labels


def concatenated(model, loader):
    truth, found = [], []
    for x, y in loader:
        found.append(model(x).argmax(dim=1).cpu().numpy())
        truth.append(y.numpy())
    return average_precision_score(np.concatenate(truth), np.concatenate(found))  # trap: auc-of-hard-labels


def scored(model, x, y):
    out = model(x)
    probs = torch.softmax(out, dim=1)
    pred = probs.argmax(dim=1)
    print((pred == y).float().mean())
    return roc_auc_score(y, probs[:, 1])


def roc_auc(truth, scores):
    order = np.argsort(scores)
    return truth[order].cumsum().mean()


def by_hand(model, loader):
    truth, hard, soft = [], [], []
    for x, y in loader:
        p = torch.sigmoid(model(x))
        truth.append(y)
        hard.append((p > 0.5).float())
        soft.append(p)
    wrong = roc_auc(torch.cat(truth).numpy(), torch.cat(hard).numpy())  # trap: auc-of-hard-labels
    return wrong, roc_auc(torch.cat(truth).numpy(), torch.cat(soft).numpy())
