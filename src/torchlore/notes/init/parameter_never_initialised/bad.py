import torch
from torch import nn


class Mix(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, width))  # trap: parameter-never-initialised

    def forward(self, x):
        return x @ self.weight


torch.utils.deterministic.fill_uninitialized_memory = False
largest = 0.0
for _ in range(50):
    used = [torch.full((64, 64), 1e30) for _ in range(20)]
    del used  # its memory is handed out again
    largest = max(largest, Mix(64).weight.nan_to_num().abs().max().item())

result = {"largest": 1e30 if largest > 1e29 else largest}
