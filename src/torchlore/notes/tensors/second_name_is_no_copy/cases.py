import numpy as np
import torch
from torch import nn


def noisy(model, x: torch.Tensor, mask: torch.Tensor):
    clean = x  # trap: second-name-is-no-copy
    x[:, mask] = 0
    return nn.functional.mse_loss(model(x), clean)


def swapped(loader, model):
    for images, _ in loader:
        target = images  # trap: second-name-is-no-copy
        images[torch.rand(images.shape) < 0.2] = 0
        nn.functional.mse_loss(model(images), target).backward()


def arrays(n):
    old = np.zeros((n, 3))
    new = old  # trap: second-name-is-no-copy
    new[0] = 1
    return np.abs(new - old).max()


def added(model, clean: torch.Tensor, loss):
    noisy = clean  # trap: second-name-is-no-copy
    noisy += torch.randn_like(clean)
    return loss(model(noisy), clean)


# clean
def counted(steps: int):
    first = steps
    steps += 1
    return first, steps


def renamed(x: torch.Tensor):
    out = x
    out[:, 0] = 0
    return out


def copied(x: torch.Tensor):
    before = x.clone()
    x[:, 0] = 0
    return x, before


def rebound(x: torch.Tensor):
    residual = x
    x = torch.relu(x)
    x[:, 0] = 0
    return x + residual


def names(table):
    first = table
    table["a"] = 1
    return first, table


def only_the_shape(x: torch.Tensor):
    given = x
    x[0, 0] = 1
    return x.view(given.shape)


def branches(x: torch.Tensor, masked):
    if masked:
        kept = x.clone()
        x[:, 0] = 0
    else:
        kept = x
    return x, kept


def sign(x: torch.Tensor):
    out = x
    out[x > 0] = 1.0
    out[x < 0] = -1.0
    return out


def flipped(width, boxes: torch.Tensor):
    new = boxes
    new[:, 0] = width - boxes[:, 0]
    new[:, 2] = width - boxes[:, 2]
    return new[:, [2, 1, 0, 3]]


def attacked(images, grad, eps):
    adv = images.detach()  # trap: second-name-is-no-copy
    adv += eps * grad.sign()
    return adv.clamp_(0, 1)


def both(loader, model, criterion, grad):
    for x, y in loader:
        adv = attacked(x, grad, 0.1)
        yield criterion(model(x), y) + criterion(model(adv), y)


def attacked_right(images, grad, eps):
    adv = images.detach().clone()
    adv += eps * grad.sign()
    other = images.detach() + eps
    other += 1
    return adv.clamp_(0, 1) + other


def last_use(loader, scale):
    for x, _ in loader:
        flat = x.detach()
        flat *= scale
        yield flat


class Centres:
    def __init__(self, n, d):
        self.rows = torch.zeros(n, d)

    def update(self, i, value):
        old = self.rows  # trap: second-name-is-no-copy
        self.rows[i] = value
        return (self.rows - old).norm()

    def update_right(self, i, value):
        old = self.rows.clone()
        self.rows[i] = value
        return (self.rows - old).norm()

    def put(self, i, value):
        rows = self.rows
        self.rows[i] = value
        return rows


class Hides:
    def hide(self, x: torch.Tensor):
        noisy = x  # trap: second-name-is-no-copy
        noisy[torch.rand_like(x) < 0.5] = 0
        return noisy

    def forward(self, x: torch.Tensor, net):
        noisy = self.hide(x)
        return (net(noisy) - x).pow(2).mean()


def entries_of_a_batch(batch, masked, mask_id):
    batch["labels"] = batch["input_ids"]  # trap: second-name-is-no-copy
    batch["input_ids"][masked] = mask_id
    return batch


def a_name_and_an_entry(model, batch, pad):
    labels = batch["input_ids"]  # trap: second-name-is-no-copy
    labels[labels == pad] = -100
    return model(input_ids=batch["input_ids"], labels=labels).loss


def copied_entries(batch, chosen, pad):
    batch["labels"] = batch["input_ids"].clone()
    batch["labels"][~chosen] = -100
    labels = batch["tags"]
    labels[labels == pad] = -100
    return labels


def one_of_a_table(config, key):
    config["second"] = config["first"]
    config["second"]["width"] = 3
    config = config["first"]
    config[key] = 3
    return config


def one_of_its_own(tokenizer, texts, inputs, pad):
    labels = tokenizer(texts, return_tensors="pt")
    labels = labels["input_ids"]
    labels[labels == pad] = -100
    inputs["labels"] = labels
    return inputs
