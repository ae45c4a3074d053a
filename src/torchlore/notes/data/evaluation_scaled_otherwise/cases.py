import torch
import torchvision.transforms as transforms
from torchvision.transforms import v2

normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
data_transforms = {
    "train": transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor(), normalize]),
    "val": transforms.Compose(
        [
            transforms.Resize(256),
            transforms.CenterCrop(224),
            transforms.ToTensor(),  # trap: evaluation-scaled-otherwise
        ]
    ),
}


def numbers():
    transform_train = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.49, 0.48, 0.44), (0.2, 0.2, 0.2))])
    transform_test = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2))]  # trap: evaluation-scaled-otherwise
    )
    return transform_train, transform_test


def chosen(train):
    if train:
        transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor(), normalize])
    else:
        transform = transforms.Compose([transforms.ToTensor()])  # trap: evaluation-scaled-otherwise
    return transform


def right(size, extra):
    steps = [transforms.ToTensor(), normalize]
    train_transform = transforms.Compose([transforms.RandomCrop(size), *steps])
    val_transform = transforms.Compose([transforms.CenterCrop(size), *steps])
    more = [transforms.ToTensor()]
    more.append(extra)
    test_transform = transforms.Compose(more)
    return train_transform, val_transform, test_transform


def same():
    train_tf = v2.Compose([v2.RandomCrop(8), v2.ToDtype(torch.float32, scale=True), v2.Normalize((0.5,), (0.5,))])
    test_tf = v2.Compose([v2.ToDtype(torch.float32, scale=True), v2.Normalize((0.5,), (0.5,))])
    return train_tf, test_tf


def measured_first(folder, statistics):
    test_transform = transforms.Compose([transforms.Resize(70), transforms.ToTensor()])
    mean, std = statistics(folder, test_transform)
    train_transform = transforms.Compose([transforms.RandomCrop(64), transforms.ToTensor(), transforms.Normalize(mean, std)])
    test_transform = transforms.Compose([transforms.Resize(70), transforms.ToTensor(), transforms.Normalize(mean, std)])
    return train_transform, test_transform


def a_slip():
    train_transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.48, 0.45, 0.4), (0.22, 0.22, 0.225))])
    test_transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.48, 0.45, 0.4), (0.22, 0.22, 0.2255))])
    return train_transform, test_transform
