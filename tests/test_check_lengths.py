"""How many rows a data set has, as far as the file says so."""

import ast

import pytest

from torchlore.check import engine, lengths
from torchlore.check.source import Source

MADE = """
import torch
from torch.utils.data import Dataset, TensorDataset, random_split
N = 40
def draw(n, width=4):
    return torch.randn(n, width), torch.randint(0, 3, (n,))
class Rows(Dataset):
    def __init__(self, n):
        self.x = torch.zeros(2 * n, 3)
    def __len__(self):
        return len(self.x)
first, *rest = torch.zeros(8, 2), torch.zeros(9, 2), torch.zeros(10, 2)
x, y = draw(N)
train, held = random_split(TensorDataset(x, y), [30, 10])
"""


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ("x", 40),
        ("y.float()", 40),
        ("x[10:]", 30),
        ("TensorDataset(x, y)", 40),
        ("held", 10),
        ("Rows(N)", 80),
        ("first", 8),
        ("rest", None),  # a list of the others
        ("x[y > 0]", None),  # as many as there are
        ("x[(y > 0) & (y < 2)]", None),
        ("x[y]", 40),
        ("unknown(x)", None),
    ],
)
def test_rows(data, rows):
    source = Source(f"{MADE}{data}\n")
    last = source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert lengths.length(source, last.value) == rows


def test_a_getattr_of_nothing_is_no_layer(rules):
    text = "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.parts = [getattr()()]\n"
    assert engine.check_text(text, {"modules-in-plain-container": rules["modules-in-plain-container"]}) == []
