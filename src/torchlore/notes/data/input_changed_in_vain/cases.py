import torch
from torch import nn
from torch.utils.data import Dataset


class Photos(Dataset):
    def __init__(self, items, transform=None, normalize=None):
        self.items, self.transform, self.normalize = items, transform, normalize

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        image, label = self.items[i]
        if self.transform is not None:
            augmented = self.transform(image)  # trap: input-changed-in-vain
        return image, label


class Views(Dataset):
    def __init__(self, items, transform, draw_params):
        self.items, self.transform, self.draw_params = items, transform, draw_params

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        image, label = self.items[i]
        first = self.transform(image)
        second = self.transform(image)
        params = self.get_crop_params(image)
        small = self.resize(image)
        # image = small
        return first, second, image, label

    def get_crop_params(self, image):
        return image.shape

    def resize(self, image):
        return image[::2]


def mixup(x, y, alpha=0.2):
    share = torch.distributions.Beta(alpha, alpha).sample()
    order = torch.randperm(len(x))
    return share * x + (1 - share) * x[order], y, y[order], share


def mixed(model, loader, optimizer, criterion):
    for x, y in loader:
        both, first, second, share = mixup(x, y)  # trap: input-changed-in-vain
        optimizer.zero_grad()
        out = model(x)
        loss = share * criterion(out, first) + (1 - share) * criterion(out, second)
        loss.backward()
        optimizer.step()


def denoise(net: nn.Module, loader, optimizer):
    for x, _ in loader:
        noisy = x + 0.1 * torch.randn_like(x)  # trap: input-changed-in-vain
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), x).backward()
        optimizer.step()


def adversarial(net: nn.Module, loader, optimizer, criterion):
    for x, y in loader:
        clean = net(x)
        noisy = x + 0.1 * torch.randn_like(x)
        optimizer.zero_grad()
        (criterion(clean, y) + criterion(net(noisy), y)).backward()
        optimizer.step()
        shifted = x - x.mean()
        print(len(x))
