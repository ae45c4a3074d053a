"""Other spellings of view-as-transpose, and code that only looks like it."""
import numpy
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.q, self.out = h, nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q = self.q(x).view(b, n, self.h, d // self.h).transpose(1, 2)
        scores = torch.softmax(q @ q.transpose(-2, -1) / 8, dim=-1)
        mixed = scores @ q
        return self.out(mixed.reshape(b, n, d))  # trap: view-as-transpose


def sequence_first(x):
    length, batch, size = x.size()
    return x.view(batch, length, size)  # trap: view-as-transpose


def channels_first(x):
    n, h, w, c = x.shape
    return x.contiguous().reshape((n, c, h, w))  # trap: view-as-transpose


images = torch.rand(10, 32, 32, 3).reshape(10, 32, 32, 3)
wrong = images.view(10, 3, 32, 32)  # trap: view-as-transpose


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(8, 16, num_layers=2, batch_first=True, bidirectional=True)
        self.one = nn.GRU(8, 16, batch_first=True)

    def forward(self, x):
        out, (h, c) = self.rnn(x)
        _, last = self.one(x)
        return h.view(x.size(0), -1), last.view(x.size(0), -1), h.view(2, 2, -1, 16)  # trap: view-as-transpose


pixels = torch.rand(50, 28, 32, 3).reshape(50, 28, 32, 3)
mixed = pixels.view(-1, 3, 28, 32)  # trap: view-as-transpose


# clean
class Right(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.q = h, nn.Linear(d, d)

    def forward(self, x):
        b, n, d = x.shape
        q = self.q(x).view(b, n, self.h, -1).transpose(1, 2)
        scores = torch.softmax(q @ q.transpose(-2, -1), dim=-1)
        return (scores @ q).transpose(1, 2).reshape(b, n, d)


def windows(x, w):
    b, height, width, c = x.shape
    x = x.view(b, height // w, w, width // w, w, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w, w, c)


def groups(x, g):
    b, c, h, w = x.shape
    y = x.view(b, g, c // g, h, w).transpose(1, 2).reshape(b, c, h, w)
    flat = x.view(b, c, h * w)
    merged = x.reshape(b * c, h, w)
    table = torch.arange(12).view(3, 4).view(4, 3)
    back = x.permute(0, 2, 3, 1).reshape(b, h * w, c)
    x = x.permute(0, 2, 3, 1)
    return y, flat, merged, table, back, x.reshape(b, h, w, c)


def beams(tensor, beam_size):
    tensor = tensor.view(-1, beam_size, tensor.size(-1))
    return tensor.view(-1, tensor.size(-1))


def one_sample(x):
    batch, channels, length = x.shape
    assert batch == 1
    return x.view(channels, length)


def gram(features):
    batch, channels, height, width = features.shape
    flat = features.view(channels, height * width)
    return flat.mm(flat.t())


class Heads(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.dk, self.q, self.k = h, d // h, nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.size()
        q = self.q(x).view(b, self.h, t, self.dk)  # trap: view-as-transpose
        k = self.k(x).view(b, t, self.h, self.dk).transpose(1, 2)
        flat, raw = self.k(x).view(b * t, d), x.view(b, self.h, t, self.dk)  # trap: view-as-transpose
        grid = self.k(x).view(b, t // 4, 4, d)
        return q, k, flat, grid, raw


loaded = torch.from_numpy(numpy.zeros((10, 32, 30, 3), dtype=numpy.float32))
axes = loaded.view(10, 3, 32, 30)  # trap: view-as-transpose
right = loaded.permute(0, 3, 1, 2).reshape(10, 3, 32, 30)


def blocks(frames, size):
    if len(frames.shape) == 4:
        batch, channels, height, width = frames.shape
        return frames.view(batch, channels, height // size, size, width)
    elif len(frames.shape) == 5:
        batch, time, channels, height, width = frames.shape
        return frames.view(batch, time // size, size, channels, height, width)
    return frames


class Merged(torch.nn.Module):
    def __init__(self, dim, heads, words):
        super().__init__()
        self.num_heads, self.width = heads, dim // heads
        self.qkv = torch.nn.Linear(dim, 3 * dim)
        self.emb = torch.nn.Embedding(words, 4)

    def forward(self, x):
        b, t, hidden = x.size()
        qkv = self.qkv(x).reshape(b, t, self.num_heads, 3 * self.width).permute(0, 2, 1, 3)
        q, k, v = qkv.chunk(3, dim=-1)
        seen = torch.matmul((torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.width)).softmax(-1), v)
        right = seen.permute(0, 2, 1, 3).reshape(b, t, hidden)
        return right + seen.reshape(b, t, hidden)  # trap: view-as-transpose

    def pixel_loss(self, ids):
        b, c, h, w = ids.size()
        x = self.emb(ids)
        right = x.permute(0, 1, 4, 2, 3).reshape(b, c * 4, h, w)
        turned = x.permute(0, 1, 3, 2, 4)
        return right, turned.reshape(b, c * 4, h, w)  # trap: view-as-transpose


def patches(images, p):
    b, c, height, width = images.shape
    n = (height // p) * (width // p)
    wrong = images.reshape(b, n, c * p * p)  # trap: view-as-transpose
    cut = images.reshape(b, c, height // p, p, width // p, p).permute(0, 2, 4, 1, 3, 5)
    stacked = images.reshape(b, c * height, width)
    return wrong, cut.reshape(b, n, c * p * p), stacked, images.view(b, c, height * width)


def clips(clip):
    b, c, t, h, w = clip.size()
    wrong = clip.contiguous().view(b * t, c, h, w)  # trap: view-as-transpose
    right = clip.permute(0, 2, 1, 3, 4).reshape(b * t, c, h, w)
    return wrong, right, clip.view(b * c, t, h, w), clip.reshape(b, c * t, h, w), clip.reshape(b, c, t, w * h)


class Segmenter(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.out = nn.Conv2d(8, n_classes, 1)
        self.last = nn.Conv2d(8, n_classes, 1)

    def forward(self, x):
        return self.out(x)

    def moved(self, x):
        return self.last(x).permute(0, 2, 3, 1)


segmenter = Segmenter(5)


def pixel_loss(logits, target):
    logits = logits.contiguous().view(-1, 5)  # trap: view-as-transpose
    return nn.functional.cross_entropy(logits, target.view(-1))


def pixel_loss_moved(logits, target):
    return nn.functional.cross_entropy(logits.reshape(-1, 5), target.view(-1))


def train_segmenter(images, masks):
    pixel_loss(segmenter(images), masks).backward()
    pixel_loss_moved(segmenter(images).permute(0, 2, 3, 1), masks).backward()
    pixel_loss_moved(segmenter.moved(images), masks).backward()


def rotated(w, heads, width):
    return w.view(heads, 2, width // heads // 2, width).transpose(1, 2).reshape(width, width)
