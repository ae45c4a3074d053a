import numpy as np
import pandas as pd
import torch
from sklearn.metrics import accuracy_score
from torch.utils.data import DataLoader


def submitted(model, test_set, sample):
    loader = DataLoader(test_set, batch_size=64, shuffle=True)  # trap: order-lost-by-shuffling
    rows = []
    for images in loader:
        rows.extend(model(images).argmax(dim=1).tolist())
    return pd.DataFrame({"id": test_set.ids, "label": rows}), sample


def scored(model, data):
    loader = DataLoader(data, 64, True)  # trap: order-lost-by-shuffling
    outputs = torch.empty(0)
    with torch.no_grad():
        for x, _ in loader:
            outputs = torch.cat([outputs, model(x)])
    found = outputs.argmax(1).numpy()
    return accuracy_score(data.targets, found)


def of_the_training(model, optimizer, criterion, train_set):
    loader = DataLoader(train_set, batch_size=64, shuffle=True)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    scores = []
    for x, _ in loader:
        scores.append(model(x).detach().cpu().numpy())
    scores = np.concatenate(scores)
    return np.mean(scores.argmax(1) == np.array(train_set.targets))  # trap: order-lost-by-shuffling


def beside(model, test_set):
    loader = DataLoader(test_set, batch_size=64, shuffle=True)
    labels, preds = [], []
    for x, y in loader:
        preds.append(model(x).argmax(1))
        labels.append(y)
    found = torch.cat(preds)
    print(accuracy_score(torch.cat(labels), found, labels=test_set.classes), len(test_set))
    return (found == torch.cat(labels)).sum() / len(test_set)


def in_order(model, test_set):
    loader = DataLoader(test_set, batch_size=64)
    preds = []
    for x, _ in loader:
        preds.append(model(x).argmax(1))
    return (torch.cat(preds) == torch.tensor(test_set.targets)).float().mean()


def predicted(model, loader):
    preds, truth = [], []
    with torch.no_grad():
        for x, y in loader:
            preds.append(model(x).argmax(dim=1).numpy())
            truth.append(y.numpy())
    return np.concatenate(preds), np.concatenate(truth)


def answers(model, loader):
    preds = []
    for x, _ in loader:
        preds.append(model(x).argmax(dim=1))
    return torch.cat(preds)


def loaders_of(train_set, test_set):
    return {
        "train": DataLoader(train_set, batch_size=32, shuffle=True),
        "test": DataLoader(test_set, batch_size=32, shuffle=True),  # trap: order-lost-by-shuffling
        "valid": DataLoader(test_set, batch_size=32),
    }


def by_a_function(model, train_set, test_set):
    loaders = loaders_of(train_set, test_set)
    y_true = loaders["test"].dataset.targets
    y_pred, truth = predicted(model, loaders["test"])
    valid = answers(model, loaders["valid"])
    print((valid == loaders["valid"].dataset.targets).float().mean(), (y_pred == truth).mean())
    return (y_pred == y_true).mean()


def at_once(model, test_set):
    loader = DataLoader(test_set, 64, shuffle=True)  # trap: order-lost-by-shuffling
    found = answers(model, loader)
    return accuracy_score(test_set.targets, found.numpy())
