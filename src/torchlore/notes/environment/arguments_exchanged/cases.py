import torch
from torch import nn


def blend(image, style, weight):
    return weight * style + (1 - weight) * image


class Trainer:
    def __init__(self, model, hidden_size, num_layers):
        self.model = model
        self.core = nn.LSTM(4, hidden_size, num_layers)

    def step(self, inputs, targets, mask):
        return (self.model(inputs) - targets).pow(2)[mask].mean()


def wrong_places(model, args, batch):
    trainer = Trainer(model, args.num_layers, args.hidden_size)  # trap: arguments-exchanged
    targets, inputs, mask = batch
    return trainer.step(targets, inputs, mask)  # trap: arguments-exchanged


def right_places(model, args, batch):
    trainer = Trainer(model, args.hidden_size, args.num_layers)
    inputs, targets, mask = batch
    return trainer.step(inputs, targets, mask)


def both_ways(image, style):
    return blend(image, style, 0.5) + blend(style, image, 0.5)


def greatest(first, second):
    return first if second == 0 else greatest(second, first % second)


def distance(left, right):
    return (left - right).norm()


def turned(left, right):
    return distance(right, left)


def shifted(image, weight):
    return blend(image, weight, torch.tensor(0.5))
