"""Other spellings of predicate-not-called, and code that only looks like it."""
import torch
from torch import distributed as dist
from torch.backends import mps
from torch.cuda import is_available
from torch.utils.data import DataLoader

assert torch.backends.cudnn.is_available  # trap: predicate-not-called
device = "cuda" if is_available else "cpu"  # trap: predicate-not-called
device = "mps" if not torch.cuda.is_available() and mps.is_available else device  # trap: predicate-not-called
use_cuda = torch.cuda.is_available  # trap: predicate-not-called
if use_cuda:
    print("on the GPU")
while not dist.is_initialized:  # trap: predicate-not-called
    break


def loaders(data):
    return DataLoader(data, pin_memory=torch.cuda.is_available)  # trap: predicate-not-called


def flat(x: torch.Tensor):
    return x.view(-1) if x.is_contiguous else x.reshape(-1)  # trap: predicate-not-called


# clean
check = torch.cuda.is_available
if check():
    print(device)
tests = list(map(torch.is_tensor, [1, torch.ones(1)]))
ready = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
print([name for name, test in ready.items() if test()])
x = torch.ones(2)
if x.is_cuda or x.is_leaf or x.requires_grad:
    print(x)
if x.dtype.is_floating_point and not x.dtype.is_complex:
    print(x)
if torch.cuda.is_available is not None:
    print("an old torch has it too")
torch.cuda.is_available = lambda: False


def run_if(condition=torch.cuda.is_available):
    return condition()
