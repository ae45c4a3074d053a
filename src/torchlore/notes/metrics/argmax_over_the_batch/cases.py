import torch
from torch import nn
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)
        self.act = nn.LogSoftmax(dim=0)  # trap: argmax-over-the-batch  # trap: softmax-without-dim

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


def five_best(net: nn.Module, loader: DataLoader):
    hits = 0
    for x, y in loader:
        scores = net(x)
        best = scores.topk(5, dim=0).indices  # trap: argmax-over-the-batch
        hits += (scores.topk(5, dim=1).indices == y[:, None]).sum()
        hits += len(best) + scores.topk(2, dim=0).values.sum()
    return hits


def precision(output, target, k):
    _, found = torch.topk(output, k, 0)  # trap: argmax-over-the-batch
    return found.t().eq(target[: found.size(1)]).float().mean()


def call_precision(net: nn.Module, loader: DataLoader):
    for x, y in loader:
        output = net(x)
        yield precision(output, y, 5)


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 5, 1)

    def forward(self, x):
        return self.head(self.body(x).relu())


def map_of_classes(loader: DataLoader):
    net = Segmenter()
    for x, y in loader:
        scores = net(x)
        yield (scores.argmax(dim=-1) == y).float().mean()  # trap: argmax-over-the-batch
        yield (scores.argmax(dim=1) == y).float().mean() + nn.functional.cross_entropy(scores, y)
        yield (scores.permute(0, 2, 3, 1).argmax(dim=-1) == y).float().mean()


def best_class(scores):
    return torch.argmax(scores, dim=0)  # trap: argmax-over-the-batch


def best_row(scores):
    return torch.argmax(scores, dim=0)


def counted(net: Net, loader: DataLoader):
    return [torch.bincount(best_class(net(x))) for x, y in loader], best_row(net.fc.weight)
