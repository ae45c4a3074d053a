import torch

x = torch.tensor([1e-9])
scores = torch.tensor([[100.0, 100.0]])

log = torch.log1p(x)
exp = torch.expm1(x)
total = torch.logsumexp(scores, dim=1)

result = {"log": log.item(), "exp": exp.item(), "sum": total.item()}
