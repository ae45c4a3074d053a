import tempfile

import torch
from torch import distributed, nn

with tempfile.NamedTemporaryFile() as file:
    store = distributed.FileStore(file.name, 1)
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
    if torch.cuda.is_available():  # SyncBatchNorm works on GPUs only
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model).cuda()
    device = next(model.parameters()).device
    model = nn.parallel.DistributedDataParallel(model)
    model(torch.randn(4, 3, 8, 8, device=device))

    result = {"wrapper": type(model).__name__, "synchronised": distributed.is_initialized()}
    distributed.destroy_process_group()
