"""Other spellings of benchmark-with-deterministic, and code that only looks like it."""
import torch
import torch.backends.cudnn as cudnn
from torch.backends import cudnn as dnn


def setup():
    cudnn.deterministic = True
    cudnn.benchmark = True  # trap: benchmark-with-deterministic


def again():
    dnn.benchmark = True
    torch.manual_seed(0)
    torch.backends.cudnn.deterministic = True  # trap: benchmark-with-deterministic


def third():
    torch.backends.cudnn.enabled = True
    torch.backends.cudnn.benchmark, fast = True, True
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = fast
    torch.backends.cudnn.deterministic = True  # trap: benchmark-with-deterministic


# clean
def repeatable():
    cudnn.deterministic = True
    cudnn.benchmark = False


def choose(seed):
    if seed is not None:
        cudnn.deterministic = True
        cudnn.benchmark = False
    else:
        cudnn.benchmark = True


def fast():
    cudnn.benchmark = True
    cudnn.deterministic = False
