import copy

from sklearn.model_selection import StratifiedKFold
from torch import nn, optim


def train(model, optimizer, x, y, rows):
    for _ in range(10):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()


def wrong(x, y, score):
    kfold = StratifiedKFold(n_splits=5)
    net = nn.Linear(3, 2)  # trap: one-model-for-all-folds
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for fold, (rows, held_out) in enumerate(kfold.split(x, y)):
        train(net, optimizer, x, y, rows)
        print(fold, score(net, x[held_out], y[held_out]))


def fresh(x, y, score):
    for rows, held_out in StratifiedKFold(n_splits=5).split(x, y):
        net = nn.Linear(3, 2)
        train(net, optim.SGD(net.parameters(), lr=0.1), x, y, rows)
        print(score(net, x[held_out], y[held_out]))


def restored(x, y, score):
    net = nn.Linear(3, 2)
    start = copy.deepcopy(net.state_dict())
    for rows, held_out in StratifiedKFold(n_splits=5).split(x, y):
        net.load_state_dict(start)
        train(net, optim.SGD(net.parameters(), lr=0.1), x, y, rows)
        print(score(net, x[held_out], y[held_out]))


def by_hand(x, y, parts, score):
    net = nn.Linear(3, 2)  # trap: one-model-for-all-folds
    for fold in range(len(parts)):
        optimizer = optim.SGD(net.parameters(), lr=0.1)
        train(net, optimizer, x, y, [row for i, part in enumerate(parts) if i != fold for row in part])
        print(fold, score(net, x[parts[fold]], y[parts[fold]]))


def fresh_by_hand(x, y, parts, score):
    for fold in range(len(parts)):
        net = nn.Linear(3, 2)
        train(
            net,
            optim.SGD(net.parameters(), lr=0.1),
            x,
            y,
            [row for i, part in enumerate(parts) if i != fold for row in part],
        )
        print(fold, score(net, x[parts[fold]], y[parts[fold]]))


def repeated(x, y, parts, score):
    net = nn.Linear(3, 2)
    for fold in range(len(parts)):
        train(net, optim.SGD(net.parameters(), lr=0.1), x, y, parts[fold])
