import torch
import torch.nn.functional as F
from torch import nn


class Speaker(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(size, 32), nn.LSTM(32, 64, batch_first=True), nn.Linear(64, size)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.embed(ids), state)
        return self.out(h), state


class Trainer:
    def __init__(self, size):
        self.model, self.criterion = Speaker(size), nn.CrossEntropyLoss(ignore_index=0)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def wrong(self, loader, device):
        for batch in loader:
            ids = batch.to(device)
            logits, _ = self.model(ids)
            loss = self.criterion(logits.transpose(1, 2), ids)  # trap: targets-not-shifted
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def right(self, loader):
        for ids in loader:
            inputs, targets = ids[:, :-1], ids[:, 1:]
            logits, _ = self.model(inputs)
            loss = self.criterion(logits.transpose(1, 2), targets)
            shifted = F.cross_entropy(self.model(ids)[0][:, :-1].flatten(0, 1), ids[:, 1:].flatten())
            (loss + shifted).backward()

    def given(self, loader):
        for ids, targets in loader:
            logits, _ = self.model(ids)
            self.criterion(logits.view(-1, 9), targets.view(-1)).backward()

    def weighed(self, ids, mask):
        logits, targets = self.model(ids)[0][:, :-1], ids[:, 1:]
        each = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        kept = mask[:, :-1].reshape(-1).float()
        wrong = (each * kept).sum() / kept.sum()  # trap: targets-not-shifted
        own = mask[:, 1:].reshape(-1).float()
        return wrong, (each * own).sum() / own.sum()


class Sessions(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return row, row  # trap: targets-not-shifted


class Shifted(Sessions):
    def __getitem__(self, i):
        row = self.rows[i]
        return row[:-1], row[1:]


class NextItem(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(20, 8), nn.Linear(8, 20)

    def forward(self, items):
        return self.out(self.embed(items))


def of_columns(rows):
    model = NextItem()
    for items, following in torch.utils.data.DataLoader(Sessions(rows), batch_size=4, shuffle=True):
        yield F.cross_entropy(model(items).transpose(1, 2), following)
    for items, following in torch.utils.data.DataLoader(Shifted(rows), batch_size=4, shuffle=True):
        yield F.cross_entropy(model(items).transpose(1, 2), following)
