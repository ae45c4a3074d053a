import torch

w = torch.randn(3, requires_grad=True) * 0.01  # trap: result-as-parameter
b = torch.zeros(1, requires_grad=True).cuda()  # trap: result-as-parameter
optimizer = torch.optim.SGD([w, b], lr=0.1)


def attack(x, device, step):
    delta = torch.rand(x.shape, requires_grad=True).to(device)  # trap: result-as-parameter
    step(x + delta)
    return delta.grad


def fine(x, device, step):
    ready = torch.rand(x.shape, device=device, requires_grad=True)
    late = (torch.rand(x.shape) * 0.1).requires_grad_()
    kept = torch.rand(x.shape, requires_grad=True) * 0.1
    kept.retain_grad()
    inner = torch.rand(x.shape, requires_grad=True) * 2  # nobody asks for its gradient
    step(ready + late + kept + inner)
    return ready.grad, late.grad, kept.grad


class Patch:
    def __init__(self, size):
        self.patch = torch.rand(3, size, requires_grad=True) * 0.5  # trap: result-as-parameter
        self.leaf = (torch.rand(3, size) * 0.5).requires_grad_()
        self.optimizer = torch.optim.Adam([self.patch, self.leaf], lr=0.01)
