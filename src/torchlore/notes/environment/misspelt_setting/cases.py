"""Other spellings of misspelt-setting, and code that only looks like it."""
import torch
import torch.backends.cudnn as cudnn
from torch import nn

cudnn.determinstic = True  # trap: misspelt-setting
cudnn.enable = False  # trap: misspelt-setting


def decay(optimizer, rate):
    optimizer.param_groups[0]["LR"] = rate  # trap: misspelt-setting
    for i, group in enumerate(optimizer.param_groups):
        group["weightdecay"] = 0.0  # trap: misspelt-setting
        group["lr_scale"] = i


layer = nn.Linear(2, 2)
layer.weights = torch.ones(2, 2)  # trap: misspelt-setting


# clean
class Mine(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(2))


mine = Mine()
mine.weights = nn.Parameter(torch.zeros(2))
cudnn.benchmark = True
cudnn.deterministic = False
torch.backends.cuda.matmul.allow_tf32 = True
settings = {}
settings["learning_rate"] = 0.1
for param_group in []:
    param_group["lr"] = 0.1
layer.extra = 3


def beside(net, epoch):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.lr = 0.1 * 0.5**epoch  # trap: misspelt-setting
    optimizer.defaults["lr"] = 0.01  # trap: misspelt-setting
    return optimizer


class Wrapper:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.lr = 0.1

    def set(self, lr):
        self.lr = lr


def others(net, config):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    wrapped = Wrapper(optimizer)
    wrapped.lr = 0.2
    config.lr = optimizer.defaults["lr"]
    return wrapped
