import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split
from torchvision import datasets


class Pictures(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return self.paths[index]


class Lines(IterableDataset):
    def __iter__(self):
        return iter(range(10))


class Trainer:
    def __init__(self, model, paths):
        self.model = model
        self.train_loader = DataLoader(Pictures(paths), batch_size=8, shuffle=False)  # trap: train-loader-not-shuffled

    def step(self, loss):
        loss.backward()


def folder(root):
    train_set = datasets.ImageFolder(root)
    trainloader = DataLoader(train_set, 32, num_workers=4)  # trap: train-loader-not-shuffled
    test_set = datasets.ImageFolder(root)
    testloader = DataLoader(test_set, 32, num_workers=4)
    return trainloader, testloader


def clean(root, sampler, options, data, shuffle, paths):
    train_loader = DataLoader(datasets.ImageFolder(root), shuffle=True, num_workers=2)
    train_dl = DataLoader(datasets.ImageFolder(root), sampler=sampler, num_workers=2)
    training_loader = DataLoader(datasets.ImageFolder(root), **options)
    trn_loader = DataLoader(Lines(), batch_size=4)
    train_data_loader = DataLoader(data, batch_size=4)
    train_part, val_part = random_split(TensorDataset(torch.zeros(4)), [2, 2])
    train_iter = DataLoader(train_part)
    val_loader = DataLoader(val_part)
    tr_loader = DataLoader(Pictures(paths), shuffle=shuffle)
    return train_loader, train_dl, training_loader, trn_loader, train_data_loader, train_iter, val_loader, tr_loader


def tensors(x, y):
    train_loader = DataLoader(TensorDataset(x, y), batch_size=16)  # trap: train-loader-not-shuffled
    return train_loader


def build(dataset, batch_size, shuffle=False, workers=2):
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle, num_workers=workers)


def with_options(dataset, options):
    loader = DataLoader(dataset, num_workers=2, **options)
    return loader


def helped(root, shuffle):
    train_loader = build(datasets.ImageFolder(root), 32)  # trap: train-loader-not-shuffled
    train_dl = with_options(datasets.ImageFolder(root), {"batch_size": 20})  # trap: train-loader-not-shuffled
    val_loader = build(datasets.ImageFolder(root), 32)
    right = build(datasets.ImageFolder(root), 32, shuffle=True)
    trainloader = build(datasets.ImageFolder(root), 32, True)
    trn_loader = with_options(datasets.ImageFolder(root), {"batch_size": 20, "shuffle": True})
    training_loader = build(datasets.ImageFolder(root), 32, shuffle)
    return train_loader, train_dl, val_loader, right, trainloader, trn_loader, training_loader


def by_phase(root):
    sets = {"train": datasets.ImageFolder(root), "val": datasets.ImageFolder(root)}
    loaders = {
        "train": DataLoader(datasets.ImageFolder(root), 32, num_workers=2),  # trap: train-loader-not-shuffled
        "val": DataLoader(sets["val"], 32, num_workers=2),
    }
    return loaders


def any_name(root, model, opt):
    batches = DataLoader(datasets.ImageFolder(root), 32, num_workers=2)  # trap: train-loader-not-shuffled
    for x, y in batches:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    points = DataLoader(TensorDataset(torch.randn(64, 2)), batch_size=16)
    train_loader = DataLoader(TensorDataset(torch.randn(64, 2), torch.zeros(64)), batch_size=16)
    return points, train_loader


def updated(root, on_gpu):
    options = {"batch_size": 20}
    if on_gpu:
        options.update({"shuffle": True})
    train_loader = DataLoader(datasets.ImageFolder(root), num_workers=2, **options)
    return train_loader


def statistics(root, model, opt):
    train_loader = DataLoader(datasets.ImageFolder(root), batch_size=5000, shuffle=False, num_workers=2)
    means = []
    for x, _ in train_loader:
        means.append(x.mean())
    train_loader = DataLoader(datasets.ImageFolder(root), batch_size=64, shuffle=True, num_workers=2)
    for x, y in train_loader:
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    return means


def by_phase(folders, model, criterion, optimizer):
    sets = {phase: datasets.ImageFolder(folders[phase]) for phase in ["train", "val"]}
    loaders = {phase: DataLoader(sets[phase], batch_size=8, num_workers=2) for phase in ["train", "val"]}  # trap: train-loader-not-shuffled
    for phase in ["train", "val"]:
        for x, y in loaders[phase]:
            loss = criterion(model(x), y)
            if phase == "train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def by_phase_shuffled(folders, model, criterion, optimizer):
    sets = {phase: datasets.ImageFolder(folders[phase]) for phase in ["train", "val"]}
    loaders = {phase: DataLoader(sets[phase], batch_size=8, num_workers=2, shuffle=phase == "train") for phase in ["train", "val"]}
    for x, y in loaders["train"]:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def never_read(root):
    training_iter = DataLoader(datasets.ImageFolder(root), batch_size=8, num_workers=2)
    return len(root)


class Module:
    def __init__(self, root):
        self.train_set, self.val_set = datasets.ImageFolder(root), datasets.ImageFolder(root)

    def loader(self, split):
        common = dict(batch_size=8, num_workers=2)
        if split == "train":
            return DataLoader(self.train_set, drop_last=True, **common)  # trap: train-loader-not-shuffled
        return DataLoader(self.val_set, **common)

    def train_loader(self):
        return DataLoader(self.train_set, shuffle=True, batch_size=8, num_workers=2)

    def train_val_loaders(self):
        return DataLoader(self.val_set, batch_size=8, num_workers=2)
