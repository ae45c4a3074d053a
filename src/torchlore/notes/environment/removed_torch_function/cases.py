"""Other spellings of removed-torch-function, and code that only looks like it."""
import numpy as np
import torch
from torch import symeig  # trap: removed-torch-function

a, b = torch.eye(3), torch.ones(3, 1)
x, _ = torch.solve(b, a)  # trap: removed-torch-function
values, vectors = symeig(a, eigenvectors=True)  # trap: removed-torch-function
spectrum = torch.rfft(b, 1, onesided=False)  # trap: removed-torch-function
q, r = torch.qr(a)  # trap: removed-torch-function
torch.set_deterministic(True)  # trap: removed-torch-function

# clean
q, r = torch.linalg.qr(a)
x = np.linalg.solve(a.numpy(), b.numpy())
spectrum = torch.fft.rfft(b)
if hasattr(torch, "symeig"):
    values, vectors = torch.symeig(a)
try:
    spectrum = torch.rfft(b, 1)
except AttributeError:
    spectrum = torch.fft.rfft(b)


def solve(a, b):
    return torch.linalg.solve(a, b)


solve(a, b)
