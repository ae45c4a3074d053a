import math

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


def root_of_each_batch(model, test_loader, criterion):
    rmse = ppl = root = 0.0
    for x, y in test_loader:
        loss = criterion(model(x), y)
        rmse += torch.sqrt(loss).item()  # trap: score-averaged-over-batches
        ppl += math.exp(loss.item())  # trap: score-averaged-over-batches
        root += (loss.item() ** 0.5) * len(x)
    return rmse / len(test_loader), ppl / len(test_loader), root / len(test_loader.dataset)


def root_at_the_end(model, test_loader, criterion):
    mse = gain = 0.0
    for x, y in test_loader:
        mse += criterion(model(x), y).item() * len(x)
        gain += torch.exp(model.log_scale).item()
    return math.sqrt(mse / len(test_loader.dataset)), gain / len(test_loader)


def links(model, loader, drawn):
    found = []
    for batch in loader:
        near, far = model(batch), model(drawn(batch))
        truth = torch.cat([torch.ones(len(near)), torch.zeros(len(far))])
        found.append(roc_auc_score(truth, torch.cat([near, far])))
    return np.mean(found)


def perplexity(model, val_loader):
    total = n = 0
    for x, y in val_loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        total += math.exp(loss.item())  # trap: score-averaged-over-batches
        n += 1
    return total / n


def of_the_mean(model, val_loader):
    total = n = 0
    for x, y in val_loader:
        total += torch.nn.functional.cross_entropy(model(x), y).item()
        n += 1
    return math.exp(total / n)


def f1_of(pred, target):
    tp, fp, fn = (pred * target).sum(), (pred * (1 - target)).sum(), ((1 - pred) * target).sum()
    return 2 * tp / (2 * tp + fp + fn + 1e-8)


def own_score(model, test_loader):
    scores = []
    for x, y in test_loader:
        scores.append(f1_of((model(x) > 0).float(), y).item())  # trap: score-averaged-over-batches
    return sum(scores) / len(scores)


def drawn(n):
    x = torch.randn(n, 4)
    return torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long())


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n


def short_last(model):
    meter = Meter()
    for x, y in torch.utils.data.DataLoader(drawn(70), batch_size=32):
        meter.update((model(x).argmax(1) == y).float().mean().item())
    return meter.total / meter.count


def short_last_named(model):
    meter, loader = Meter(), torch.utils.data.DataLoader(drawn(70), batch_size=32)
    for x, y in loader:
        meter.update((model(x).argmax(1) == y).float().mean().item())  # trap: score-averaged-over-batches
    return meter.total / meter.count


def even_named(model):
    meter, loader = Meter(), torch.utils.data.DataLoader(drawn(64), batch_size=32)
    for x, y in loader:
        meter.update((model(x).argmax(1) == y).float().mean().item())
    return meter.total / meter.count
