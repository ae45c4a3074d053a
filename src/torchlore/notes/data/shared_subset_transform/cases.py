import copy

import torch
from torch.utils.data import Subset, random_split
from torchvision import datasets, transforms

augment = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])
plain = transforms.ToTensor()


def after_the_split(root):
    data = datasets.ImageFolder(root, transform=plain)
    train_set, valid_set = torch.utils.data.random_split(data, [0.9, 0.1])
    train_set.dataset.transform = augment  # trap: shared-subset-transform
    return train_set, valid_set


def before_the_split(root):
    data = datasets.ImageFolder(root, transform=augment)
    train_set, val_set = random_split(data, [0.9, 0.1])  # trap: shared-subset-transform
    return train_set, val_set


def cifar(root):
    full = datasets.CIFAR10(root, transform=transforms.RandomCrop(32, padding=4))
    train_data, test_data = random_split(full, [40000, 10000])  # trap: shared-subset-transform
    return train_data, test_data


def copied(root):
    data = datasets.ImageFolder(root, transform=augment)
    train_set, val_set = random_split(data, [0.9, 0.1])
    val_set.dataset = copy.copy(data)
    return train_set, val_set


def copied_for_training(root):
    data = datasets.ImageFolder(root)
    train_set, val_set = random_split(data, [0.9, 0.1])
    train_set.dataset = copy.copy(data)
    train_set.dataset.transform = augment
    val_set.dataset.transform = plain
    return train_set, val_set


def indices_lent(root):
    data = datasets.ImageFolder(root, transform=augment)
    train_set, val_part = random_split(data, [0.9, 0.1])
    return train_set, Subset(datasets.ImageFolder(root, transform=plain), val_part.indices)


def indices_lent_to_its_own_name(root):
    data = datasets.ImageFolder(root, transform=augment)
    train_set, val_set = random_split(data, [0.9, 0.1])
    val_set = Subset(datasets.ImageFolder(root, transform=plain), val_set.indices)
    return train_set, val_set, len(val_set)


def another_in_its_place_sometimes(root, clean):
    data = datasets.ImageFolder(root, transform=augment)
    train_set, val_set = random_split(data, [0.9, 0.1])  # trap: shared-subset-transform
    if clean:
        val_set = Subset(datasets.ImageFolder(root, transform=plain), val_set.indices)
    return train_set, val_set


def fine(root, data, order):
    both = datasets.ImageFolder(root, transform=plain)
    a, val = random_split(both, [0.9, 0.1])
    train_set = Subset(datasets.ImageFolder(root, transform=augment), order)
    train_set.dataset.transform = augment
    labelled, unlabelled = random_split(datasets.ImageFolder(root, transform=augment), [0.5, 0.5])
    c, test = random_split(data, [0.9, 0.1])
    both.transform = plain
    return a, val, train_set, labelled, unlabelled, c, test
