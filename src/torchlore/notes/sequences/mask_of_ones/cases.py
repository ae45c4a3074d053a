"""Other spellings of mask-of-ones, and code that only looks like it."""
import torch
from torch.nn.utils.rnn import pad_sequence


def collate(rows):
    tokens = pad_sequence([torch.tensor(r) for r in rows], batch_first=True)
    attention_mask = torch.ones(tokens.shape, dtype=torch.bool)  # trap: mask-of-ones
    return {"input_ids": tokens, "attention_mask": attention_mask}


def by_size(rows):
    tokens = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    mask = torch.ones(tokens.size(), dtype=torch.long)  # trap: mask-of-ones
    return tokens, mask


def filled(rows):
    tokens = pad_sequence(rows, batch_first=True)
    mask = torch.ones(tokens.shape)
    for i, row in enumerate(rows):
        mask[i, len(row):] = 0
    return tokens, mask


def filled_at_once(rows):
    tokens = pad_sequence(rows, batch_first=True)
    mask = torch.ones_like(tokens).masked_fill(tokens == 0, 0)
    other = torch.ones_like(tokens)
    other = other * (tokens != 0)
    return tokens, mask, other


def padded_themselves(rows):
    tokens = pad_sequence(rows, batch_first=True)
    mask = pad_sequence([torch.ones(len(row)) for row in rows], batch_first=True)
    return tokens, mask


def causal(rows):
    tokens = pad_sequence(rows, batch_first=True)
    n = tokens.size(1)
    causal_mask = torch.ones(n, n).tril()
    return tokens, causal_mask


def changed_below(rows):
    tokens = pad_sequence(rows, batch_first=True)
    mask = torch.ones_like(tokens)
    mask.masked_fill_(tokens == 0, 0)
    return tokens, mask


def by_hand(rows, pad=0):
    width = max(len(row) for row in rows)
    tokens = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
    mask = torch.ones(tokens.shape)  # trap: mask-of-ones
    return tokens, mask


def by_hand_and_a_mask(rows, pad=0):
    width = max(len(row) for row in rows)
    filled = [row + [pad] * (width - len(row)) for row in rows]
    tokens = torch.tensor(filled)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    other_mask = torch.ones_like(tokens)  # trap: mask-of-ones
    return tokens, mask, other_mask


def row_by_row(rows):
    tokens = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for i, row in enumerate(rows):
        tokens[i, : len(row)] = torch.tensor(row)
    mask = torch.ones_like(tokens)  # trap: mask-of-ones
    right_mask = torch.ones_like(tokens)
    for i, row in enumerate(rows):
        right_mask[i, len(row) :] = 0
    return tokens, mask, right_mask


def one_after_the_other(rows, longest, pad):
    padded = []
    for row in rows:
        padded.append(row + [pad] * (longest - len(row)))
    tokens = torch.tensor(padded)
    mask = torch.ones(len(rows), longest)  # trap: mask-of-ones
    return tokens, mask
