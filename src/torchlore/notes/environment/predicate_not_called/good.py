import torch
import torch.distributed as dist

pin = bool(torch.cuda.is_available())
rank_zero_only = False
if dist.is_initialized():
    rank_zero_only = True

result = {"pinned": pin, "rank_zero_only": rank_zero_only}
