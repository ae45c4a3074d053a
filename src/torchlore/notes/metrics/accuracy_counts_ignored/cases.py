import torch
import torch.nn.functional as F
from torch import nn

IGNORE = 255


class Trainer:
    def __init__(self, net):
        self.net = net
        self.criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)

    def evaluate(self, loader):
        correct, total = 0, 0
        for image, mask in loader:
            out = self.net(image)
            self.criterion(out, mask)
            _, pred = out.max(1)
            correct += torch.sum(pred == mask).item()  # trap: accuracy-counts-ignored
            total += mask.numel()
        return correct / total

    def mean(self, image, mask):
        return (self.net(image).argmax(1) == mask).float().mean()  # trap: accuracy-counts-ignored

    # clean
    def masked(self, image, mask):
        pred, valid = self.net(image).argmax(1), mask != IGNORE
        return (pred[valid] == mask[valid]).float().mean()

    def counted(self, image, mask):
        pred = self.net(image).argmax(1)
        return ((pred == mask) & (mask != IGNORE)).sum() / (mask != IGNORE).sum()

    def of_samples(self, image, label):
        hits = (self.net(image).mean((2, 3)).argmax(1) == label).sum().item()
        return hits / label.numel()


def words(model, src, tgt):
    logits = model(src, tgt[:, :-1])
    loss = F.cross_entropy(logits.transpose(1, 2), tgt[:, 1:], ignore_index=0)
    acc = (logits.argmax(-1) == tgt[:, 1:]).float().mean()  # trap: accuracy-counts-ignored
    return loss, acc


def whole_sentences(model, src, tgt):
    return (model(src).argmax(-1) == tgt).all(1).float().mean()
