import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset, Subset, random_split


class Data:
    def __init__(self, whole):
        self.whole = whole

    def setup(self):
        self.train_set, self.val_set = random_split(self.whole, [80, 20])

    def train_dataloader(self):
        return DataLoader(self.whole, batch_size=4, shuffle=True)  # trap: training-set-overlaps-validation

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=4)


def in_a_function(data):
    train_set, val_set = random_split(data, [80, 20])
    train = DataLoader(data, batch_size=4, shuffle=True)  # trap: training-set-overlaps-validation
    val = DataLoader(val_set, batch_size=4)
    return train, val, train_set


def get_loader(data, split):
    train_set, val_set = random_split(data, [80, 20])  # trap: training-set-overlaps-validation
    if split == "train":
        return DataLoader(train_set, batch_size=4, shuffle=True)
    return DataLoader(val_set, batch_size=4)


def get_both(data, split):
    train_set, val_set = random_split(data, [80, 20], generator=torch.Generator().manual_seed(0))
    if split == "train":
        return DataLoader(train_set, batch_size=4, shuffle=True)
    return DataLoader(val_set, batch_size=4)


def once(data):
    train_set, val_set = random_split(data, [80, 20])
    return DataLoader(train_set, batch_size=4, shuffle=True), DataLoader(val_set, batch_size=4)


def refit(data):
    train_set, val_set = random_split(data, [80, 20])
    tuned = DataLoader(train_set, batch_size=4, shuffle=True), DataLoader(val_set, batch_size=4)
    everything = DataLoader(data, batch_size=4, shuffle=True)
    return tuned, everything


def main(data):
    return get_loader(data, "train"), get_loader(data, "val"), get_both(data, "train"), get_both(data, "val"), once(data)


def two_or_three(data, test):
    if test is not None:
        order = torch.randperm(100).tolist()
        return Subset(data, order[:20]), Subset(data, order[20:]), test
    order = torch.randperm(100).tolist()
    return Subset(data, order[:20]), Subset(data, order[20:90]), Subset(data, order[90:])


def one_or_the_other(data, small):
    if small:
        order = torch.randperm(100).tolist()
        part = Subset(data, order[:20])
    else:
        order = torch.randperm(100).tolist()
        part = Subset(data, order[:80])
    return part


class Windows(Dataset):
    def __init__(self, series, size):
        self.series, self.size = series, size

    def __len__(self):
        return len(self.series) - self.size

    def __getitem__(self, i):
        return self.series[i : i + self.size], self.series[i + self.size]


class Blocks(Dataset):
    def __init__(self, series, size):
        self.parts = [series[i : i + size] for i in range(0, len(series), size)]

    def __len__(self):
        return len(self.parts)

    def __getitem__(self, i):
        return self.parts[i]


def sequences(series, size):
    xs, ys = [], []
    for i in range(len(series) - size):
        xs.append(series[i : i + size])
        ys.append(series[i + size])
    return xs, ys


def windows(series, rows, labels):
    train, test = random_split(Windows(series, 8), [80, 20])  # trap: training-set-overlaps-validation
    x, y = sequences(series, 8)
    parts = train_test_split(x, y, test_size=0.2)  # trap: training-set-overlaps-validation
    in_order = train_test_split(x, y, test_size=0.2, shuffle=False)
    first, second = random_split(Blocks(series, 8), [8, 2])
    return train, test, parts, in_order, first, second, train_test_split(rows, labels)


def loaders(make):
    train_set, val_set = make("train"), make("val")
    train_loader = DataLoader(train_set, batch_size=4, shuffle=True)
    val_loader = DataLoader(train_set, batch_size=4)  # trap: training-set-overlaps-validation
    return train_loader, val_loader


def measured_too(make):
    train_set, val_set = make("train"), make("val")
    train_loader = DataLoader(train_set, batch_size=4, shuffle=True)
    train_eval_loader = DataLoader(train_set, batch_size=4)
    return train_loader, train_eval_loader, DataLoader(val_set, batch_size=4)


def part_of(data, split, ratio=0.8):
    order = torch.randperm(len(data)).tolist()  # trap: training-set-overlaps-validation
    cut = int(ratio * len(data))
    chosen = order[:cut] if split == "train" else order[cut:]
    return Subset(data, chosen)


def same_part_of(data, split, ratio=0.8):
    torch.manual_seed(0)
    order = torch.randperm(len(data)).tolist()
    cut = int(ratio * len(data))
    if split == "train":
        return Subset(data, order[:cut])
    return Subset(data, order[cut:])


def parts(data):
    return part_of(data, "train"), part_of(data, "val"), same_part_of(data, "train"), same_part_of(data, "val")


class Frames(Dataset):
    def __init__(self, split, size=64):
        self.split, self.size = split, size

    def __getitem__(self, i):
        return i

    def __len__(self):
        return self.size


def by_split(config, index):
    loaders = {"train": DataLoader(Frames("train"), shuffle=True), "val": DataLoader(Frames("val"))}
    loaders["test"] = DataLoader(Frames("train"), batch_size=9)  # trap: training-set-overlaps-validation
    part = DataLoader(Subset(Frames("train"), index))
    train_eval_loader = DataLoader(Frames("train"), batch_size=9)
    return loaders, part, train_eval_loader


def cut_from_both_ends(x, y):
    train = torch.utils.data.TensorDataset(x[:-100], y[:-100])
    val = torch.utils.data.TensorDataset(x[100:], y)  # trap: training-set-overlaps-validation
    return train, val


class Meshes:
    def __init__(self, meshes, n_val):
        self.train = meshes[:-n_val]
        self.val = self.train[-n_val:]  # trap: training-set-overlaps-validation

    def right(self, meshes, n_val):
        train, val = meshes[:-n_val], meshes[-n_val:]
        train = meshes[:-n_val]
        val = train[-n_val:]
        train = train[:-n_val]
        return train, val
