import numpy as np
import torch
from sklearn.metrics import f1_score, roc_auc_score
from torch.utils.data import DataLoader, TensorDataset


def auc(model, loader):
    found = []
    for x, y in loader:
        found.append(roc_auc_score(y.numpy(), model(x).numpy()))  # trap: score-averaged-over-batches
    return np.mean(found)


def short_last_batch(model):
    data = TensorDataset(torch.randn(250, 4), torch.zeros(250))
    loader = DataLoader(data, batch_size=64)
    accuracy = 0.0
    for x, y in loader:
        accuracy += (model(x).argmax(1) == y).float().mean().item()  # trap: score-averaged-over-batches
    return accuracy / len(loader)


def equal_batches(model):
    data = TensorDataset(torch.randn(256, 4), torch.zeros(256))
    loader = DataLoader(data, batch_size=64)
    accuracy = 0.0
    for x, y in loader:
        accuracy += (model(x).argmax(1) == y).float().mean().item()
    return accuracy / len(loader)


def shown_as_it_goes(model, loader):
    ys, ps = [], []
    for x, y in loader:
        p = model(x).argmax(1)
        print(f1_score(y, p))
        ys.append(y)
        ps.append(p)
    return f1_score(torch.cat(ys), torch.cat(ps))


def over_folds(model, folds):
    scores = []
    for train, test in folds:
        model.fit(*train)
        x, y = test
        scores.append(f1_score(y, model.predict(x)))
    return np.mean(scores)


def dropped(model, data):
    loader = DataLoader(data, batch_size=64, drop_last=True)
    accuracy = 0.0
    for x, y in loader:
        accuracy += (model(x).argmax(1) == y).float().mean().item()
    return accuracy / len(loader)
