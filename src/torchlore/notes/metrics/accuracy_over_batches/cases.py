import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, test_loader, device):
    hits = 0
    for x, y in test_loader:
        _, pred = torch.max(model(x), 1)
        hits += torch.sum(pred == y).item()
    return 100.0 * hits / len(test_loader)  # trap: accuracy-over-batches


def by_eq(model, data):
    loader = DataLoader(data, batch_size=32)
    correct = 0.0
    for x, y in loader:
        correct += model(x).argmax(1).eq(y).sum().item()
    acc = correct / len(loader)  # trap: accuracy-over-batches
    return acc


def with_float(model, val_loader):
    right = 0
    for x, y in val_loader:
        right += float((model(x).argmax(1) == y).sum())
    print("accuracy", right / len(val_loader))  # trap: accuracy-over-batches


def clean(model, val_loader, data, xs):
    correct, total, mean, loss_sum = 0, 0, 0.0, 0.0
    for x, y in val_loader:
        out = model(x)
        correct += (out.argmax(1) == y).sum().item()
        mean += (out.argmax(1) == y).float().mean().item()
        loss_sum += out.sum().item()
        total += y.size(0)
    single = DataLoader(data)
    ones = 0
    for x, y in single:
        ones += (model(x).argmax(1) == y).sum().item()
    return correct / total, correct / len(val_loader.dataset), mean / len(val_loader), ones / len(single), loss_sum / len(xs)


def in_a_table(model, val_loader):
    stats = {"correct": 0}
    for x, y in val_loader:
        stats["correct"] += (model(x).argmax(1) == y).sum().item()
    return stats["correct"] / len(val_loader)  # trap: accuracy-over-batches


def in_a_table_right(model, val_loader):
    stats = {"correct": 0}
    for x, y in val_loader:
        stats["correct"] += (model(x).argmax(1) == y).sum().item()
    return stats["correct"] / len(val_loader.dataset)


def of_many_labels(model, x, tags):
    loader = DataLoader(TensorDataset(x, tags), batch_size=16)
    right = 0
    for xb, tb in loader:
        right += ((model(xb) > 0) == tb.bool()).sum().item()
    return right / len(loader.dataset), right / (len(loader.dataset) * tags.size(1))  # trap: accuracy-over-batches


of_many_labels(nn.Linear(8, 5), torch.randn(64, 8), torch.randint(0, 2, (64, 5)))
