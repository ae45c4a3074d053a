"""Other spellings of profiler-use-cuda, and code that only looks like it."""
import torch
from torch.autograd import profiler
from torch.autograd.profiler import profile
from torch.utils import bottleneck  # trap: profiler-use-cuda

with profile(use_cuda=True) as p:  # trap: profiler-use-cuda
    torch.ones(2)
with profiler.profile(True, use_cuda=torch.cuda.is_available(), record_shapes=True) as p:  # trap: profiler-use-cuda
    torch.ones(2)

# clean
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
    torch.ones(2)
with profile(record_shapes=True) as p:
    torch.ones(2)


def train(use_cuda=False):
    return use_cuda


train(use_cuda=True)
