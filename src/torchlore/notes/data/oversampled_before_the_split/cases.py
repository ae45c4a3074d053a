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
