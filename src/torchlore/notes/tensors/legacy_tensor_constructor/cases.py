"""Other spellings of legacy-tensor-constructor, and code that only looks like it."""
import torch
from torch import FloatTensor, nn

a = torch.Tensor(3, 4)  # trap: legacy-tensor-constructor
b = torch.LongTensor([1, 2])  # trap: legacy-tensor-constructor
c = FloatTensor([x / 2 for x in range(3)])  # trap: legacy-tensor-constructor
d = torch.cuda.FloatTensor(2, 2)  # trap: legacy-tensor-constructor


def batch(rows, n):
    return torch.Tensor(rows), torch.tensor(n)  # trap: legacy-tensor-constructor


# clean
class Scale(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.Tensor(n, 1))
        nn.init.ones_(self.weight)


def fine(x: torch.Tensor) -> torch.Tensor:
    if isinstance(x, torch.Tensor):
        return torch.tensor([1.0, 2.0])
    y = torch.Tensor(2).fill_(1.0)
    return torch.empty(2, 3) + y.sum() + torch.Tensor()
