import random

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed, self.cell, self.out = nn.Embedding(size, 16), nn.GRUCell(16, 16), nn.Linear(16, size)

    def forward(self, hidden, words, forced=1.0):
        outputs, word = [], torch.zeros_like(words[:, 0])
        for t in range(words.size(1)):
            hidden = self.cell(self.embed(word), hidden)
            outputs.append(self.out(hidden))
            word = words[:, t] if random.random() < forced else outputs[-1].argmax(dim=1)
        return torch.stack(outputs)


class Side(Decoder):
    def forward(self, hidden, words):
        outputs = []
        for t in range(words.size(1)):
            hidden = self.cell(self.embed(words[:, t]), hidden)
            outputs.append(self.out(hidden))
        return torch.stack(outputs, dim=1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(9, 8), nn.LSTM(8, 8, num_layers=2), nn.Linear(8, 5)

    def forward(self, words):
        x = self.embed(words).permute(1, 0, 2)
        states = self.rnn(x)[0]
        return self.out(states)


class Turned(Reader):
    def forward(self, words):
        x = self.embed(words).permute(1, 0, 2)
        return self.out(self.rnn(x)[0].transpose(0, 1))


def train(loader, criterion, hidden):
    decoder, side, reader, turned = Decoder(9), Side(9), Reader(), Turned()
    for words, tags in loader:
        scores = decoder(hidden, tags)
        first = criterion(scores.view(-1, 9), tags.reshape(-1))
        second = criterion(side(hidden, tags).view(-1, 9), tags.view(-1))
        third = nn.functional.cross_entropy(reader(words).flatten(0, 1), tags.flatten())  # trap: flattened-in-another-order
        fourth = nn.functional.cross_entropy(turned(words).flatten(0, 1), tags.flatten())
        columns = tags.t()
        fifth = nn.functional.cross_entropy(reader(words).flatten(0, 1), columns.reshape(-1))
        yield first + second + third + fourth + fifth


def decode(loader, hidden):
    decoder, criterion = Decoder(9), nn.CrossEntropyLoss()
    for _, tags in loader:
        scores = decoder(hidden, tags)
        yield criterion(scores.view(-1, 9), tags.reshape(-1))  # trap: flattened-in-another-order


class TimeFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(9, 8), nn.LSTM(8, 8, bidirectional=True), nn.Linear(16, 5)

    def forward(self, words):
        states, (hidden, cell) = self.rnn(self.embed(words))
        return self.out(states)


def rows(loader, criterion):
    model = TimeFirst()
    for words, tags in loader:
        scores = model(words.t())
        scores = scores.view(-1, 5)
        tags = tags.reshape(-1)
        yield nn.functional.cross_entropy(scores, tags)  # trap: flattened-in-another-order


def columns(loader):
    model = TimeFirst()
    for words, tags in loader:
        yield nn.functional.cross_entropy(model(words).view(-1, 5), tags.view(-1))
