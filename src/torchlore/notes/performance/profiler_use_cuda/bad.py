import torch
from torch import nn

backbone = nn.Linear(4, 4)
x = torch.rand(2, 4)
error, rows = "", []
try:
    with torch.autograd.profiler.profile(enabled=True, use_cuda=False) as profile:  # trap: profiler-use-cuda
        with torch.profiler.record_function("backbone"):
            backbone(x)
    rows = [row.key for row in profile.key_averages()]
except TypeError as problem:
    error = type(problem).__name__

result = {"rows": rows, "error": error}
