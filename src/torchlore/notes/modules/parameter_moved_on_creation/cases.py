import torch
from torch import nn
from torch.nn import Parameter


class Layer(nn.Module):
    def __init__(self, n, device):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(n)).cuda()  # trap: parameter-moved-on-creation
        self.b = 0.01 * Parameter(torch.randn(n))  # trap: parameter-moved-on-creation
        self.c = nn.Parameter(torch.randn(n, n)).to(device).half()  # trap: parameter-moved-on-creation
        self.d = nn.Parameter(torch.zeros(n).to(device))
        self.e = nn.Parameter(torch.randn(n)).requires_grad_(False)
        self.f = Parameter(0.01 * torch.randn(n))
        self.g = nn.Parameter(torch.ones(n, device=device)).float()
        self.copy = nn.Parameter(torch.zeros(n)).data

    def forward(self, x):
        return x * self.a + self.b


def free(n):
    weight = nn.Parameter(torch.zeros(n)).cuda()
    return weight


class Placed(nn.Module):
    def __init__(self, n, device):
        super().__init__()
        self.a = nn.Parameter(torch.randn(n).to(device), requires_grad=True).to(device)
        self.b = nn.Parameter(torch.randn(n, device=device)).to(device)


class Smoother:
    def start(self, n, device):
        self.scale = nn.Parameter(torch.ones(n)).to(device)


class Edges(nn.Module):
    def __init__(self, device):
        super().__init__()
        kernel = torch.ones(1, 1, 3, 3).to(device)
        self.weight = nn.Parameter(data=kernel, requires_grad=False).to(device, non_blocking=True)
