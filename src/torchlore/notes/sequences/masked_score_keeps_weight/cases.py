import torch
import torch.nn.functional as F


def attention(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    masked = scores * mask  # trap: masked-score-keeps-weight
    return F.softmax(masked, dim=-1) @ v


def filled(scores, mask):
    scores = scores.masked_fill(mask == 0, 1e-10)  # trap: masked-score-keeps-weight
    return scores.softmax(-1)


def right(q, k, mask, gate):
    scores = torch.matmul(q, k.transpose(-2, -1))
    hidden = scores.masked_fill(mask == 0, -1e9)
    added = scores + (1 - mask) * -1e4
    return hidden.softmax(-1) * mask, F.softmax(added, dim=-1), F.softmax(q * gate, dim=-1)


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = torch.nn.Softmax(dim=-1)

    def forward(self, q, k, mask):
        scores = torch.bmm(q, k.transpose(1, 2))
        scores = scores * mask.unsqueeze(1)  # trap: masked-score-keeps-weight
        return self.softmax(scores)

    def right(self, q, k, mask):
        scores = torch.bmm(q, k.transpose(1, 2))
        scores = scores + (1.0 - mask.unsqueeze(1)) * -1e9
        return self.softmax(scores)


def make_src_mask(src, pad):
    return (src != pad).unsqueeze(1).unsqueeze(3)  # trap: masked-score-keeps-weight


def make_key_mask(src, pad):
    return (src != pad).unsqueeze(1).unsqueeze(2)


def make_trg_mask(trg, pad):
    words = (trg != pad).unsqueeze(1).unsqueeze(3)
    return words & torch.ones(trg.size(1), trg.size(1)).tril().bool()


def taken_out(q, k, v, mask):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1) * mask  # trap: masked-score-keeps-weight
    return weights @ v


def shared_again(q, k, v, mask):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1) * mask
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ v


def rows_of_padding(q, k, v, mask, rows_mask):
    scores = (q @ k.transpose(-2, -1)).masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1) * rows_mask
    return weights @ v


def of_a_map(logits, mask, colours):
    probs = torch.softmax(logits, dim=1) * mask
    return probs.mean(), colours
