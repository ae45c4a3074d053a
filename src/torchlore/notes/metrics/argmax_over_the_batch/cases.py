import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.act = nn.LogSoftmax(dim=0)  # trap: argmax-over-the-batch

    def forward(self, x):
        return self.act(self.fc(x))


def train(loader, opt):
    model, crit = Net(), nn.NLLLoss()
    for x, y in loader:
        opt.zero_grad()
        loss = crit(model(x), y)
        loss.backward()
        opt.step()


def test(model, test_loader):
    correct = 0
    for images, labels in test_loader:
        outputs = model(images)
        _, predicted = torch.max(outputs.data, 0)  # trap: argmax-over-the-batch
        correct += (predicted == labels).sum().item()
    return correct


def one_sample(model, dataset):
    model.eval()
    return [model(x).argmax(dim=0) for x, _ in dataset]


def best_of_each_class(model, loader):
    found = []
    for x, _ in loader:
        found.append(model(x).softmax(dim=1).max(dim=1).values)
    return torch.cat(found).max(dim=0)
