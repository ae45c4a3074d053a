import torch
from torch.nn import DataParallel, SyncBatchNorm


def build(model, ids):
    model = SyncBatchNorm.convert_sync_batchnorm(model)
    return torch.nn.DataParallel(model, device_ids=ids)  # trap: syncbn-under-data-parallel


def wrap(model):
    return DataParallel(model)  # trap: syncbn-under-data-parallel


def layer(n):
    return SyncBatchNorm(n)
