import torch

covariance = torch.tensor([[2.0, 1.0], [1.0, 2.0]])
error, values = "", []
try:
    values = torch.symeig(covariance)[0].tolist()  # trap: removed-torch-function
except RuntimeError as problem:
    error = str(problem)

result = {"eigenvalues": [round(v, 4) for v in values], "error": error}
