"""Other spellings of renamed-torch-function, and code that only looks like it."""
import torch
import torch.nn.init as init
from torch import nn
from torch.nn import functional as F
from torch.nn.init import xavier_uniform  # trap: renamed-torch-function
from torch.nn.utils import clip_grad_norm  # trap: renamed-torch-function

layer = nn.Linear(2, 2)
init.kaiming_normal(layer.weight)  # trap: renamed-torch-function
xavier_uniform(layer.weight)  # trap: renamed-torch-function
clip_grad_norm(layer.parameters(), 1.0)  # trap: renamed-torch-function
big = F.upsample(torch.ones(1, 1, 2, 2), scale_factor=2)  # trap: renamed-torch-function
steps = torch.range(0, 3)  # trap: renamed-torch-function

# clean
init.kaiming_normal_(layer.weight)
nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
steps = torch.arange(0, 4)
noise = torch.normal(0.0, 1.0, (2,))
outer = torch.outer(steps, steps)
print(range(3), torch.cuda.memory_reserved())
