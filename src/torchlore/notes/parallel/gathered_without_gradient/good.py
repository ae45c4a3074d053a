import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn


def gather(features):
    parts = [torch.zeros_like(features) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, features)
    parts[dist.get_rank()] = features
    return torch.cat(parts)


def contrast(images, texts, scale):
    images, texts = gather(images), gather(texts)
    logits = scale * images @ texts.T
    labels = torch.arange(len(logits))
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", 1), rank=0, world_size=1)
    eye, ear, scale = nn.Linear(8, 4), nn.Linear(6, 4), nn.Parameter(torch.tensor(2.0))
    before = eye.weight.detach().clone()
    optimizer = torch.optim.SGD([*eye.parameters(), *ear.parameters(), scale], lr=0.1)
    for _ in range(3):
        loss = contrast(eye(torch.randn(5, 8)), ear(torch.randn(5, 6)), scale.exp())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()
result = {"moved": float((eye.weight.detach() - before).abs().max())}
