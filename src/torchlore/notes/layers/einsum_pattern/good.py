import torch

query, key = torch.randn(2, 4, 5, 8), torch.randn(2, 4, 6, 8)

error = ""
try:
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key)
except RuntimeError as problem:
    error = type(problem).__name__

result = {"error": error}
