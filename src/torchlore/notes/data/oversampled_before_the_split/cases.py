import numpy as np
import torch
from imblearn.over_sampling import SMOTE
from sklearn.model_selection import train_test_split
from sklearn.utils import resample


def balanced(x, y):
    rare = resample(x[y == 1], replace=True, n_samples=int((y == 0).sum()))
    return np.concatenate([x[y == 0], rare]), np.concatenate([y[y == 0], np.ones(len(rare))])


def wrong(x, y):
    x, y = SMOTE().fit_resample(x, y)
    return train_test_split(torch.as_tensor(x), torch.as_tensor(y))  # trap: oversampled-before-the-split


def by_function(x, y):
    features, labels = balanced(x, y)
    return train_test_split(features, labels, test_size=0.2)  # trap: oversampled-before-the-split


def right(x, y):
    x_train, x_test, y_train, y_test = train_test_split(x, y)
    x_train, y_train = SMOTE().fit_resample(x_train, y_train)
    return balanced(x_train, y_train), x_test, y_test


def fewer(x, y):
    few = resample(x[y == 0], replace=False, n_samples=20)
    return train_test_split(few)


def oversample(x, y, rng):
    rare = np.flatnonzero(y == 1)
    extra = rng.choice(rare, size=len(y), replace=True)
    return np.concatenate([x, x[extra]]), np.concatenate([y, y[extra]])


def split(x, y, n):
    return x[:n], y[:n], x[n:], y[n:]


def by_hand(x, y, rng, n):
    x, y = oversample(x, y, rng)
    return split(x, y, n)  # trap: oversampled-before-the-split


def by_hand_well(x, y, rng, n):
    xtr, ytr, xte, yte = split(x, y, n)
    xtr, ytr = oversample(xtr, ytr, rng)
    return xtr, ytr, xte, yte
