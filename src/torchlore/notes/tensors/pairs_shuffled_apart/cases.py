"""Other spellings of pairs-shuffled-apart, and code that only looks like it."""
import glob
import os

import numpy as np
import torch


def arrays(images, labels):
    images = images[np.random.permutation(len(images))]
    labels = labels[np.random.permutation(len(labels))]  # trap: pairs-shuffled-apart
    return images, labels


def named(x, targets):
    first, second = torch.randperm(len(x)), torch.randperm(len(x))
    x = x[first]
    targets = targets[second]  # trap: pairs-shuffled-apart
    return x, targets


class Data:
    def shuffle(self):
        self.data = self.data[torch.randperm(10)]
        self.labels = self.labels[torch.randperm(10)]  # trap: pairs-shuffled-apart


# clean
def together(x, y):
    order = torch.randperm(len(x))
    x = x[order]
    y = y[order]
    return x, y


def unpaired(cats, dogs, y):
    cats = cats[torch.randperm(len(cats))]
    dogs = dogs[torch.randperm(len(dogs))]
    kept = y[torch.arange(3)]
    return cats, dogs, kept


def mixup(x, y):
    partner = torch.randperm(len(x))
    return x + x[partner], y[partner]


def in_place(x, y):
    np.random.shuffle(x)
    np.random.shuffle(y)  # trap: pairs-shuffled-apart


def seeded_twice(x, y):
    np.random.seed(0)
    np.random.shuffle(x)
    np.random.seed(0)
    np.random.shuffle(y)


def holes(images, masks):
    np.random.shuffle(images)
    np.random.shuffle(masks)


class Folder:
    def __init__(self, root):
        self.images = sorted(os.listdir(root + "/images"))
        self.masks = os.listdir(root + "/masks")  # trap: pairs-shuffled-apart
        self.names = os.listdir(root)

    def __getitem__(self, index):
        return self.images[index], self.masks[index]


class Sorted:
    def __init__(self, root):
        self.images, self.alone = sorted(os.listdir(root + "/images")), os.listdir(root)
        self.masks = sorted(glob.glob(root + "/masks/*.png"))
        self.later = glob.glob(root + "/labels/*.png")
        self.later.sort()

    def __getitem__(self, index):
        return self.images[index], self.masks[index], self.later[index]


def two_loaders(net, images, depths):
    first = torch.utils.data.DataLoader(images, batch_size=8, shuffle=True)  # trap: pairs-shuffled-apart
    second = torch.utils.data.DataLoader(depths, batch_size=8, shuffle=True)
    for i, (image, depth) in enumerate(zip(first, second)):
        guess = net(image)
        torch.nn.functional.l1_loss(guess, depth).backward()


def two_domains(there, back, horses, zebras):
    first = torch.utils.data.DataLoader(horses, batch_size=8, shuffle=True)
    second = torch.utils.data.DataLoader(zebras, batch_size=8, shuffle=True)
    for horse, zebra in zip(first, second):
        torch.nn.functional.l1_loss(back(there(horse)), horse).backward()
        torch.nn.functional.l1_loss(there(back(zebra)), zebra).backward()


def in_order(net, images, depths):
    first = torch.utils.data.DataLoader(images, batch_size=8)
    second = torch.utils.data.DataLoader(depths, batch_size=8)
    for image, depth in zip(first, second):
        torch.nn.functional.l1_loss(net(image), depth).backward()


def collate(batch):
    rows, labels = zip(*batch)
    rows = sorted(rows, key=len, reverse=True)  # trap: pairs-shuffled-apart
    return torch.nn.utils.rnn.pad_sequence(rows), torch.tensor(labels)


def collate_pairs(batch):
    batch = sorted(batch, key=lambda pair: len(pair[0]))
    rows, labels = zip(*batch)
    return torch.nn.utils.rnn.pad_sequence(rows), torch.tensor(labels)


def collate_by_order(batch):
    rows, labels = zip(*batch)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    return [rows[i] for i in order], torch.tensor([labels[i] for i in order])


def only_one(features, n):
    rows = features.float()
    price = rows.sum(1)
    order = torch.randperm(n)
    rows = rows[order]  # trap: pairs-shuffled-apart
    return torch.utils.data.TensorDataset(rows[:80], price[:80])


def shuffled_both(features, n):
    rows = features.float()
    price = rows.sum(1)
    order = torch.randperm(n)
    rows = rows[order]
    price = price[order]
    return torch.utils.data.TensorDataset(rows[:80], price[:80])


def made_after(features, n):
    rows = features.float()
    order = torch.randperm(n)
    rows = rows[order]
    price = rows.sum(1)
    return torch.utils.data.TensorDataset(rows, price)


def labels_at_random(rows, n):
    rows, labels = rows.float(), rows.sum(1)
    order = torch.randperm(n)
    labels = labels[order]
    return torch.utils.data.TensorDataset(rows, labels)


def alone(x, y, n):
    np.random.shuffle(x)  # trap: pairs-shuffled-apart
    return (x[:n], y[:n]), (x[n:], y[n:])


def loaded(images, labels, rng):
    rng.shuffle(images)  # trap: pairs-shuffled-apart
    return torch.utils.data.TensorDataset(images, labels)


def together(rows, images, n):
    np.random.shuffle(rows)
    x, y = rows[:, :-1], rows[:, -1]
    order = np.arange(len(images))
    np.random.shuffle(order)
    return images[order], (x[:n], y[:n])


def own_labels(names, label_of):
    np.random.shuffle(names)
    labels = [label_of[name] for name in names]
    return names, labels


def chosen(random, places, num_to_mask, sampled):
    random.shuffle(places)
    return sampled(places, num_to_mask)
