import random

import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, encoder, decoder, device):
        super().__init__()
        self.encoder, self.decoder, self.device = encoder, decoder, device

    def forward(self, src, trg, teacher_forcing_ratio=0.5):
        hidden, word, outputs = self.encoder(src), trg[0, :], []
        for t in range(1, len(trg)):
            output, hidden = self.decoder(word, hidden)
            outputs.append(output)
            word = trg[t] if random.random() < teacher_forcing_ratio else output.argmax(1)
        return torch.stack(outputs)


class Captioner(nn.Module):
    def __init__(self, cell, ratio=0.7):
        super().__init__()
        self.cell, self.tf_ratio = cell, ratio

    def forward(self, feature, words):
        word, hidden, outputs = words[:, 0], feature, []
        for t in range(1, words.size(1)):
            hidden = self.cell(word, hidden)
            outputs.append(hidden)
            forced = torch.rand(1).item() < self.tf_ratio  # trap: teacher-forcing-in-evaluation
            word = words[:, t] if forced else hidden.argmax(1)
        return torch.stack(outputs, 1)


class Quiet(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, feature, words, teacher_forcing_ratio=0.5):
        forced = self.training and random.random() < teacher_forcing_ratio
        return self.cell(words if forced else feature)


def build(encoder, decoder, cell):
    model, captioner, quiet = Seq2Seq(encoder, decoder, "cpu"), Captioner(cell), Quiet(cell)
    return model, captioner, quiet


class Trainer:
    def __init__(self, encoder, decoder, cell):
        self.model = Seq2Seq(encoder, decoder, "cpu")
        self.captioner, self.quiet = Captioner(cell), Quiet(cell)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train_epoch(self, loader, criterion):
        self.model.train()
        for src, trg in loader:
            loss = criterion(self.model(src, trg), trg[1:])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self, loader, criterion):
        self.model.eval()
        return [criterion(self.model(src, trg), trg[1:]).item() for src, trg in loader]  # trap: teacher-forcing-in-evaluation

    def evaluate(self, loader):
        self.model.eval()
        for src, trg in loader:
            with torch.no_grad():
                yield self.model(src, trg, 0).argmax(-1), self.quiet(src, trg), self.captioner(src, trg)

    def perplexity(self, loader, criterion):
        with torch.inference_mode():
            return [criterion(self.model(src, trg, teacher_forcing_ratio=1.0), trg[1:]).item() for src, trg in loader]
