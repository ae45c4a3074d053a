"""Bugs that public repositories repaired, retold: before the repair all rules together flag the marked lines, and those alone."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

RETOLD = {
    "the states of two directions are viewed as one row a sample": """
import torch
from torch import nn


class Reduce(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(8, hidden, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.single = nn.LSTM(8, hidden, batch_first=True)
        self.narrow = nn.Linear(2 * hidden, hidden)

    def forward(self, x):
        _, state = self.lstm(x)
        h, _ = state
        return self.narrow(h.reshape(-1, self.hidden * 2))  # trap: view-as-transpose

    def last_two(self, x):
        _, h = self.gru(x)
        return self.narrow(h[-2:].view(x.size(0), -1))  # trap: view-as-transpose

    def turned(self, x):
        _, (h, _) = self.lstm(x)
        return self.narrow(h.transpose(0, 1).reshape(-1, self.hidden * 2))

    def by_layer(self, x):
        _, h = self.gru(x)
        return h.view(2, 2, x.size(0), self.hidden)[-1]

    def one_layer(self, x):
        _, (h, _) = self.single(x)
        return h.view(x.size(0), -1)
""",
    "the loop's name is given the other tensor": """
import torch


class Average:
    def __init__(self, model, ema_model):
        self.params = list(model.state_dict().values())
        self.ema_params = list(ema_model.state_dict().values())
        for param, ema_param in zip(self.params, self.ema_params, strict=True):
            param = ema_param  # trap: loop-variable-rebound


def copied(params, ema_params):
    for param, ema_param in zip(params, ema_params, strict=True):
        param.data.copy_(ema_param.data)


def larger(first, second):
    found = []
    for one, other in zip(first, second, strict=True):
        if other > one:
            one = other
        found.append(one)
    return torch.stack(found)
""",
    "one of two losses is a number": """
import torch
from torch.nn import functional as F


def step(model, optimizer, x, y, noise, weight):
    clean_loss = F.cross_entropy(model(x), y)
    adv_loss = F.cross_entropy(model(x + noise), y)
    optimizer.zero_grad()
    loss = (clean_loss.item() + weight * adv_loss) / (1 + weight)  # trap: loss-term-without-gradient
    loss.backward()
    optimizer.step()


def both(model, optimizer, x, y, noise, weight):
    clean_loss = F.cross_entropy(model(x), y)
    adv_loss = F.cross_entropy(model(x + noise), y)
    optimizer.zero_grad()
    loss = (clean_loss + weight * adv_loss) / (1 + weight)
    loss.backward()
    optimizer.step()
    return clean_loss.item()
""",
    "a part of the batch is moved in vain": """
import torch


@torch.no_grad()
def predict(model, dataloader, device):
    found = []
    for item in dataloader:
        x = item["image"]
        x.to(device)  # trap: discarded-move
        found.append(model(x))
    return found


def train(model, loader, device):
    for i, (images, labels) in enumerate(loader):
        images.cuda()  # trap: discarded-move
        print(i, model(images), labels)


def graphs(model, loader, device):
    for batch in loader:
        batch.to(device)  # a batch of graphs moves itself
        print(model(batch))
""",
    "evaluation mode for the training": """
import torch
from torch import nn
from zoo import get_model


class Trainer:
    def __init__(self, loader, tests):
        self.loader, self.tests = loader, tests
        self.model = get_model("fcn")
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self):
        for _ in range(3):
            self.model.eval()  # trap: train-mode-not-restored
            for x, y in self.loader:
                self.optimizer.zero_grad()
                self.loss(self.model(x), y).backward()
                self.optimizer.step()
            self.validate()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        return [self.model(x).argmax(1).eq(y).sum() for x, y in self.tests]


class Frozen(Trainer):
    def train(self):
        for _ in range(3):
            self.model.eval()  # its statistics stay those of the pretraining
            for x, y in self.loader:
                self.optimizer.zero_grad()
                self.loss(self.model(x), y).backward()
                self.optimizer.step()
            self.validate()
""",
    "raw scores by name": """
from torch.nn import functional as F


def distil(logits, wanted):
    return F.kl_div(logits, wanted, reduction="batchmean")  # trap: kl-div-on-probabilities


def likelihood(logits, labels):
    return F.nll_loss(logits, labels)  # trap: nll-on-probabilities


def right(logits, wanted, labels):
    logits = F.log_softmax(logits, dim=-1)
    return F.kl_div(logits, wanted, reduction="batchmean") + F.nll_loss(logits, labels)
""",
    "a backward pass in the validation": """
import torch


def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()  # trap: eval-without-no-grad
        total += loss.item()
    return total / len(loader)


def evaluate_attack(model, loader, criterion, size):
    model.eval()
    hits = 0
    for x, y in loader:
        x.requires_grad_()
        criterion(model(x), y).backward()
        with torch.no_grad():
            hits += (model(x + size * x.grad.sign()).argmax(1) == y).sum().item()
    return hits / len(loader.dataset)
""",
    "one dictionary, many times": """
import copy

import torch


def clips(videos, length):
    found = []
    for video in videos:
        for start in range(0, 64, length):
            clip = video
            clip["frames"] = list(range(start, start + length))
            found.append(clip)  # trap: same-tensor-appended
    return found


def copies(videos, length):
    found = []
    for video in videos:
        for start in range(0, 64, length):
            clip = copy.copy(video)
            clip["frames"] = torch.arange(start, start + length)
            found.append(clip)
    return found


def filled(videos):
    found = []
    for video in videos:
        clip = video
        clip["length"] = len(clip["frames"])
        found.append(clip)
    return found
""",
    "a mean without its fraction": """
import torch


@torch.no_grad()
def evaluate(model, loader, criterion):
    model.eval()
    total_loss, correct, total = 0.0, 0, 0
    for x, y in loader:
        out = model(x)
        total_loss += criterion(out, y).item()
        correct += (out.argmax(1) == y).sum().item()
        total += len(y)
    return total_loss // len(loader), correct // total  # trap: loss-over-the-wrong-count


@torch.no_grad()
def weighed(model, loader, criterion):
    model.eval()
    total_loss = 0.0
    for x, y in loader:
        current_batch_size = x.size()[0]
        total_loss += criterion(model(x), y).item() * current_batch_size
    return total_loss / len(loader.dataset)


def pages(loader, size):
    errors = 0
    for x in loader:
        errors += int(x.isnan().any())
    return errors // size
""",
    "a loss where a probability belongs": """
import torch
from torch.nn import functional as F


def focal(logits, labels, alpha, gamma):
    bce = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (alpha * (1 - bce) ** gamma * bce).mean()  # trap: focal-on-batch-mean


def right(logits, labels, alpha, gamma):
    bce = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    p = torch.exp(-bce)
    return (alpha * (1 - p) ** gamma * bce).mean()
""",
    "softmax over the batch": """
import numpy as np
import torch
from torch import nn


def accuracy(scores, labels):
    best = np.argmax(nn.Softmax(dim=0)(scores).cpu().numpy(), axis=1)  # trap: argmax-over-the-batch
    return (best == labels.numpy()).mean()


def classes(model, x):
    probabilities = torch.softmax(model(x), dim=1)
    return probabilities.argmax(dim=1)


def best_sample(model, x):
    return torch.softmax(model(x), dim=0).argmax(dim=0)
""",
    "the lowest error starts at nothing": """
import torch


class Keeper:
    def __init__(self):
        self.best_error = -1  # trap: best-compared-the-wrong-way
        self.best_score = 0

    def save(self, model, error, path):
        if error < self.best_error:
            self.best_error = error
            torch.save(model.state_dict(), path)

    def save_score(self, model, score, path):
        if score > self.best_score:
            self.best_score = score
            torch.save(model.state_dict(), path)
""",
    "a masked mean of a mean": """
import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.bce = nn.BCEWithLogitsLoss()
        self.either = nn.BCEWithLogitsLoss(**options)

    def forward(self, scores, wanted, mask):
        return (self.bce(scores, wanted) * mask).sum() / mask.sum()  # trap: mean-over-the-masked

    def as_asked(self, scores, wanted, mask):
        return (self.either(scores, wanted) * mask).sum() / mask.sum()


def each(scores, wanted, mask):
    return (nn.functional.mse_loss(scores, wanted, reduction="none") * mask).sum() / mask.sum()
""",
    "a list of layers by its annotation": """
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


class Ensemble(nn.Module):
    def __init__(self, encoders: list[Encoder], names: list[str]):
        super().__init__()
        self.encoders = encoders  # trap: modules-in-plain-container
        self.names = names

    def forward(self, x):
        return [encoder(x) for encoder in self.encoders], self.names


class Registered(nn.Module):
    def __init__(self, encoders: list[Encoder]):
        super().__init__()
        self.encoders = nn.ModuleList(encoders)

    def forward(self, x):
        return [encoder(x) for encoder in self.encoders]


class Voter:
    def __init__(self, encoders: list[Encoder]):
        self.encoders = encoders

    def forward(self, x):
        return [encoder(x) for encoder in self.encoders]
""",
    "the prediction is not given back": """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)

    def predict(self, x):
        torch.argmax(self.forward(x), dim=1)  # trap: discarded-tensor-op

    def predicted(self, x):
        return torch.argmax(self.forward(x), dim=1)
""",
}


@pytest.mark.parametrize("story", RETOLD)
def test_all_rules_flag_exactly_the_marked_lines(story: str) -> None:
    text = RETOLD[story]
    marks = {(n, one) for n, line in enumerate(text.splitlines(), 1) for one in re.findall(r"# trap: ([\w-]+)", line)}
    said = {(found.line, found.slug) for found in engine.check_text(text, all_rules())}
    assert said == marks
    assert marks
