import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

device = "cpu"
model = nn.Linear(2, 2)
model.to(device)
model.half()
loss_fn = nn.CrossEntropyLoss()
loss_fn.to(device)


def typed(x: Tensor, y: "torch.Tensor", thing):
    x.to(device)  # trap: discarded-move
    y.cuda()  # trap: discarded-move
    thing.to(device)
    return x, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(3)
        self.scale.to(device)  # trap: discarded-move
        self.fc = nn.Linear(3, 3)
        self.fc.to(device)


for inputs, targets in DataLoader(TensorDataset(torch.ones(3, 2), torch.ones(3)), 2):
    inputs.to(device)  # trap: discarded-move
    targets = targets.long()

values = torch.zeros(3)
values.double().sum()
parts = [torch.zeros(1), torch.zeros(2)]
for part in parts:
    part.half()  # trap: discarded-move


def noise(net):
    drawn = torch.randn(3, device=net.device)
    drawn.to(net.device)
    return drawn


def to_onehot(y, classes):
    table = torch.zeros(len(y), classes)
    table.scatter_(1, y.view(-1, 1), 1).float()
    return table


class Kernel(nn.Module):
    def __init__(self, cuda):
        super().__init__()
        if cuda:
            kernel = torch.tensor([1.0]).cuda()
        else:
            kernel = torch.tensor([1.0])
        self.kernel = nn.Parameter(kernel, requires_grad=False)
        if cuda:
            self.kernel.cuda()


def to_device(batch, device):
    for key, value in batch.items():
        value.to(device, non_blocking=True)  # trap: discarded-move
    return batch


def moved(batch, device):
    return {key: value.to(device) for key, value in batch.items()}


def train(net, loader, device):
    for batch in loader:
        net(to_device(batch, device))
        for part in batch:
            part.cuda()  # trap: discarded-move
        net(moved(batch, device))


def nets_to_device(nets, device):
    for net in nets.values():
        net.to(device)
