import random

import torch
from torch.utils.data import Dataset
from torchvision import transforms


class Seg(Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks
        self.transform = transforms.Compose([transforms.RandomCrop(32), transforms.ToTensor()])
        self.resize = transforms.Compose([transforms.Resize(32), transforms.ToTensor()])
        self.color = transforms.ColorJitter(0.1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        img, mask = self.images[index], self.masks[index]
        x = self.transform(img)
        y = self.transform(mask)  # trap: paired-random-transform
        return x, y


def pair(image, gt):
    rotate = transforms.RandomRotation(10)
    return rotate(image), rotate(gt)  # trap: paired-random-transform


flip = transforms.Compose([transforms.ToTensor(), transforms.RandomVerticalFlip()])


def depth_pair(rgb, depth):
    rgb = flip(rgb)
    depth = flip(depth)  # trap: paired-random-transform
    return rgb, depth


class Fine(Seg):
    def __getitem__(self, index):
        img, mask = self.images[index], self.masks[index]
        img, mask = self.resize(img), self.resize(mask)
        views = self.transform(img), self.transform(img)
        return views, mask, self.color(img)

    def seeded(self, img, mask):
        seed = int(torch.randint(0, 9, ()))
        torch.manual_seed(seed)
        img = self.transform(img)
        torch.manual_seed(seed)
        return img, self.transform(mask)

    def given(self, img, mask, transform):
        return transform(img), transform(mask)


class Restored(Dataset):
    def __init__(self, inputs, targets):
        self.inputs, self.targets = inputs, targets
        self.cut = transforms.RandomCrop(32)
        self.fixed = transforms.CenterCrop(32)

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, i):
        picture, target = self.inputs[i], self.targets[i]
        return self.cut(picture), self.cut(target)  # trap: paired-random-transform


class Views(Restored):
    def __getitem__(self, i):
        picture, target = self.inputs[i], self.targets[i]
        return self.cut(picture), self.cut(picture), self.fixed(target)


class Optional:
    def __init__(self, train):
        self.move = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()]) if train else None
        self.plain = transforms.Compose([transforms.Resize(8), transforms.ToTensor()]) if train else None

    def __call__(self, image, mask):
        if self.move is not None:
            image = self.move(image)
            mask = self.move(mask)  # trap: paired-random-transform
        return self.plain(image), self.plain(mask)


def flipped(picture):
    return picture.flip(-1) if random.random() < 0.5 else picture


def brighter(picture):
    return picture * (1 + random.random())


class Roads:
    def __init__(self, tiles, masks):
        self.tiles, self.masks = tiles, masks

    def __getitem__(self, i):
        tile = flipped(self.tiles[i])
        mask = flipped(self.masks[i])  # trap: paired-random-transform
        return tile, mask

    def both(self, i):
        return flipped(torch.cat([self.tiles[i], self.masks[i]]))

    def colour(self, i):
        return brighter(self.tiles[i]), brighter(self.masks[i])
