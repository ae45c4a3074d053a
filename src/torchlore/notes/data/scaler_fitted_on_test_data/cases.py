import torch
from sklearn import preprocessing
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler


def wrong(X_train, X_test, x_val, df_test):
    sc = MinMaxScaler()
    a = sc.fit_transform(X_train)
    b = sc.fit_transform(X_test)  # trap: scaler-fitted-on-test-data
    c = preprocessing.StandardScaler().fit(x_val)  # trap: scaler-fitted-on-test-data
    d = StandardScaler().fit_transform(df_test[["a", "b"]])  # trap: scaler-fitted-on-test-data
    return torch.tensor(a), torch.tensor(b), c, d


def clean(X_train, X_test, y_test, features, other):
    sc = StandardScaler().fit(X_train)
    a = sc.transform(X_test)
    b = other.fit_transform(X_test)
    model = LogisticRegression()
    model.fit(X_test, y_test)
    c = StandardScaler().fit_transform(features)
    d = StandardScaler().fit_transform(X_train)
    return a, b, c, d


def split_too_late(X, y):
    X = StandardScaler().fit_transform(X)  # trap: scaler-fitted-on-test-data
    a, b, c, d = train_test_split(X, y)
    return a, b, c, d


def split_first(X, y):
    a, b, c, d = train_test_split(X, y)
    sc = StandardScaler()
    a = sc.fit_transform(a)
    return a, sc.transform(b), c, d


def by_hand(rows, n):
    mu, sigma = rows.mean(axis=0), rows.std(axis=0)  # trap: scaler-fitted-on-test-data
    rows = (rows - mu) / sigma
    x_train, x_test = rows[n:], rows[:n]
    return x_train, x_test


def by_hand_fine(rows, table, n):
    x_train, x_test = rows[n:], rows[:n]
    mu, sigma = x_train.mean(axis=0), x_train.std(axis=0)
    table = (table - table.mean()) / table.std()
    head, tail = table[:n], table[n:]
    return (x_train - mu) / sigma, (x_test - mu) / sigma, head, tail


class Standard:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0)
        return self

    def transform(self, x):
        return (x - self.mean) / self.std


def scale(x_train, x_test):
    ours = Standard()
    x_train = ours.fit(x_train).transform(x_train)
    x_test = ours.fit(x_test).transform(x_test)  # trap: scaler-fitted-on-test-data
    return x_train, x_test


def scale_apart(x_train, x_test):
    ours, other = Standard().fit(x_train), Standard().fit(x_test)
    return ours.transform(x_train), ours.transform(x_test), other


class Series(torch.utils.data.Dataset):
    def __init__(self, data, flag, n_train):
        mean, std = data.mean(axis=0), data.std(axis=0)  # trap: scaler-fitted-on-test-data
        data = (data - mean) / std
        self.data = data[:n_train] if flag == "train" else data[n_train:]


class Careful(torch.utils.data.Dataset):
    def __init__(self, data, flag, n_train):
        train = data[:n_train]
        data = (data - train.mean(axis=0)) / train.std(axis=0)
        self.data = train if flag == "train" else data[n_train:]


class Scaler:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0)
        return self

    def transform(self, x):
        return (x - self.mean) / self.std


def cut_afterwards(x, y, n):
    scaler = Scaler().fit(x)  # trap: scaler-fitted-on-test-data
    x = scaler.transform(x)
    return (x[:n], y[:n]), (x[n:], y[n:])


def cut_before(x, y, n):
    scaler = Scaler().fit(x[:n])
    x = scaler.transform(x)
    return (x[:n], y[:n]), (x[n:], y[n:])


def of_the_training_rows(x_train, n):
    scaler = StandardScaler()
    x_train = scaler.fit_transform(x_train)
    return x_train[:n], x_train[n:], scaler


def drawn_in_two_halves(rows, n):
    points = PCA(n_components=2).fit_transform(rows)
    return points[:n], points[n:]
