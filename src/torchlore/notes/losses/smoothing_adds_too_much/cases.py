import torch


def links(e2_multi, args):
    e2_multi = ((1.0 - args.label_smoothing) * e2_multi) + (1.0 / e2_multi.size(1))  # trap: smoothing-adds-too-much
    return e2_multi


def right(e2_multi, args, num_classes):
    one = (1.0 - args.label_smoothing) * e2_multi + args.label_smoothing / e2_multi.size(1)
    two = e2_multi * (1 - args.label_smoothing) + args.label_smoothing / num_classes
    return one, two


def floor(one_hot_mask, p, eps):
    kept = p * (1 - eps) + eps
    return kept * one_hot_mask + torch.ones_like(p)
