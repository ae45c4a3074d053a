import torch
from torch import distributed, nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
model = nn.DataParallel(model)  # trap: syncbn-under-data-parallel
model(torch.randn(4, 3, 8, 8))

result = {"wrapper": type(model).__name__, "synchronised": distributed.is_initialized()}
