from torch.utils.data import Dataset


class Table(Dataset):
    def __init__(self, x, y):
        self.x = (x - x.mean(0)) / x.std(0)  # trap: fitted-in-each-split
        classes = sorted(set(y))
        self.number = {name: i for i, name in enumerate(classes)}  # trap: fitted-in-each-split
        self.y = y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.number[self.y[i]]


class Given(Dataset):
    def __init__(self, x, mean, std):
        self.x = (x - mean) / std
        self.unit = (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.unit[i]


class Whole(Dataset):
    def __init__(self, rows):
        self.rows = (rows - rows.mean(0)) / rows.std(0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def build(x, y):
    train_set, test_set = None, None
    train_set = Table(x[:80], y[:80])
    test_set = Table(x[80:], y[80:])
    mean, std = x[:80].mean(0), x[:80].std(0)
    train_given = Given(x[:80], mean, std)
    test_given = Given(x[80:], mean, std)
    return train_set, test_set, train_given, test_given, Whole(x)


def standardise(t):
    return (t - t.mean(dim=0)) / t.std(dim=0)


def of_a_row(t):
    return (t - t.mean(dim=1, keepdim=True)) / t.std(dim=1, keepdim=True)


def prepare(x_train, x_test, mean, std):
    train = standardise(x_train)
    test = standardise(x_test)  # trap: fitted-in-each-split
    return train, test, of_a_row(x_train), of_a_row(x_test), (x_test - mean) / std


def rescaled(x, stats=None):
    if stats is None:
        stats = x.mean(axis=0), x.std(axis=0)
    return (x - stats[0]) / stats[1], stats


def by_default(x_train, x_test):
    x_train, stats = rescaled(x_train)
    x_test, _ = rescaled(x_test)  # trap: fitted-in-each-split
    return x_train, x_test, stats


def handed_on(train_x, test_x):
    train_x, stats = rescaled(train_x)
    test_x, _ = rescaled(test_x, stats)
    return train_x, test_x
