import torch

x = torch.tensor([1e-9])
scores = torch.tensor([[100.0, 100.0]])

log = torch.log(1 + x)  # trap: imprecise-near-zero
exp = torch.exp(x) - 1  # trap: imprecise-near-zero
total = torch.log(torch.sum(torch.exp(scores), dim=1))  # trap: imprecise-near-zero

result = {"log": log.item(), "exp": exp.item(), "sum": total.item()}
