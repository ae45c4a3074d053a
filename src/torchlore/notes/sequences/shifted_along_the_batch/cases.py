import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 16)
        self.core = nn.Transformer(16, 2, batch_first=True)
        self.head = nn.Linear(16, 9)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.head(self.core(self.embed(src), self.embed(tgt), tgt_mask=mask))


def wrong(model, loader, criterion):
    for src, tgt in loader:
        out = model(src, tgt[:-1, :])
        tgt_out = tgt[1:, :]  # trap: shifted-along-the-batch
        criterion = nn.CrossEntropyLoss()
        criterion(out.reshape(-1, out.shape[-1]), tgt_out.reshape(-1)).backward()


def right(model, loader):
    criterion = nn.CrossEntropyLoss()
    for src, tgt in loader:
        out = model(src, tgt[:, :-1])
        criterion(out.reshape(-1, 9), tgt[:, 1:].reshape(-1)).backward()


def turned(model, loader):
    criterion = nn.CrossEntropyLoss()
    for src, tgt in loader:
        tgt = tgt.transpose(0, 1)
        out = model(src, tgt[:-1].transpose(0, 1))
        criterion(out.reshape(-1, 9), tgt[1:].reshape(-1)).backward()


def stream(words):
    return torch.stack([words[:-1], words[1:]])
