import torch


def at_once(loss, mask):
    return loss.masked_fill(mask, 0).sum() / mask.sum()  # trap: mean-over-the-masked


def kept(loss, mask):
    loss = loss.masked_fill(~mask, 0)
    return loss.sum() / mask.sum()


def other(loss, mask, valid):
    loss = loss.masked_fill(mask, 0)
    return loss.sum() / valid.sum(), torch.sum(loss) / mask.logical_not().sum()


def turned(loss, mask):
    loss = loss.masked_fill(mask, 0)
    mask = ~mask
    return loss.sum() / mask.sum()


def scores(attention, mask):  # no zeros: the softmax takes them out
    attention = attention.masked_fill(mask, float("-inf"))
    return attention.sum() / mask.sum()
