import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torch.utils.data.sampler import SubsetRandomSampler


def wrong(data, indices, total):
    train_sampler = SubsetRandomSampler(indices)
    train_loader = DataLoader(data, batch_size=4, sampler=train_sampler)
    a = total / len(train_loader.dataset)  # trap: length-of-dataset-under-sampler
    total /= len(train_loader.dataset)  # trap: length-of-dataset-under-sampler
    ranked = DataLoader(data, 4, sampler=DistributedSampler(data, shuffle=False))
    b = 100.0 * total / len(ranked.dataset)  # trap: length-of-dataset-under-sampler
    return a, b


def clean(data, weights, total, loader, indices):
    plain = DataLoader(data, batch_size=4, shuffle=True)
    a = total / len(plain.dataset)
    weighted = DataLoader(data, sampler=torch.utils.data.WeightedRandomSampler(weights, len(data)))
    b = total / len(weighted.dataset)
    part = DataLoader(data, sampler=SubsetRandomSampler(indices))
    print(f"{len(part.dataset)} samples in all, {len(part.sampler)} used")
    share = len(part.sampler) / len(data)
    c = total / len(part.sampler)
    d = total / len(loader.dataset)
    return a, b, c, d, share
