import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Wrong(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(9, 4)
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, ids, seq_len):
        sorted_len, perm_idx = torch.sort(seq_len, dim=0, descending=True)  # trap: sorted-for-packing-only
        ids = ids.index_select(0, perm_idx)
        packed = pack_padded_sequence(self.embed(ids), sorted_len.cpu(), batch_first=True)
        out, _ = self.rnn(packed)
        return pad_packed_sequence(out, batch_first=True)[0].mean(1)

    def put_back(self, ids, seq_len):
        sorted_len, perm_idx = torch.sort(seq_len, dim=0, descending=True)
        _, back = perm_idx.sort()
        packed = pack_padded_sequence(self.embed(ids[perm_idx]), sorted_len, batch_first=True)
        out, _ = self.rnn(packed)
        return pad_packed_sequence(out, batch_first=True)[0][back]

    def handed_on(self, ids, seq_len):
        sorted_len, perm_idx = seq_len.sort(descending=True)
        packed = pack_padded_sequence(self.embed(ids[perm_idx]), sorted_len, batch_first=True)
        return self.rnn(packed)[0], perm_idx


def step(model, ids, labels, lengths, loss):
    lengths, order = lengths.sort(descending=True)
    ids, labels = ids[order], labels[order]
    packed = pack_padded_sequence(ids, lengths, batch_first=True)
    return loss(model(packed), labels)


def unsorted(model, ids, lengths):
    order = lengths.argsort(descending=True)
    packed = pack_padded_sequence(ids[order], lengths[order], batch_first=True, enforce_sorted=False)
    return model(packed)


def beside_the_model(model, loader):
    for ids, lengths, labels in loader:
        lengths, order = lengths.sort(descending=True)  # trap: sorted-for-packing-only
        ids = ids[order]
        nn.functional.cross_entropy(model(ids, lengths), labels).backward()


def all_of_them(model, loader):
    for ids, lengths, labels in loader:
        lengths, order = lengths.sort(descending=True)
        ids, labels = ids[order], labels[order]
        nn.functional.cross_entropy(model(ids, lengths), labels).backward()


def put_back(model, loader):
    for ids, lengths, labels in loader:
        lengths, order = lengths.sort(descending=True)
        ids = ids[order]
        out = model(ids, lengths)[order.argsort()]
        nn.functional.cross_entropy(out, labels).backward()
