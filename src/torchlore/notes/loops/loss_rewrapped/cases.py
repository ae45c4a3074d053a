import torch
from torch import nn
from torch.autograd import Variable

criterion = nn.CrossEntropyLoss()
model = nn.Linear(8, 3)


def wrapped(inputs, labels):
    loss = criterion(model(inputs), labels)
    loss = Variable(loss, requires_grad=True)  # trap: loss-rewrapped
    loss.backward()


def from_item(inputs, labels):
    loss = criterion(model(inputs), labels)
    again = torch.tensor([loss.item()], requires_grad=True)  # trap: loss-rewrapped
    again.backward()


def plain(inputs, labels):
    loss = criterion(model(inputs), labels)
    loss.backward()


def picture(target):
    image = torch.tensor(target, requires_grad=True)
    (image - 1).pow(2).sum().backward()
    return image.grad


def weighted(inputs, labels):
    weight = torch.tensor(0.5)
    loss = weight * criterion(model(inputs), labels)
    loss.backward()


def forced(inputs, labels):
    loss = criterion(model(inputs).argmax(1).float(), labels.float())
    loss.requires_grad_(True)  # trap: loss-rewrapped
    return loss


def flagged(inputs, labels):
    total_loss = (model(inputs).argmax(1) - labels).float().mean()
    total_loss.requires_grad = True  # trap: loss-rewrapped
    total_loss.backward()


def start(inputs, labels):
    loss = torch.zeros(1)
    loss.requires_grad_(True)
    return loss + criterion(model(inputs), labels)


def image_loss(image, loss_scale):
    image = image * loss_scale
    image.requires_grad_(True)
    return image


def written_into(m):
    n = torch.autograd.Variable(torch.zeros(1, 2))  # trap: variable-volatile
    n[0, 0] = m[0, 0] ** 2
    n.backward(torch.ones(1, 2))


def of_scales(outs, y):
    losses = []
    for out in outs:
        losses.append(nn.functional.l1_loss(out, y).item())
    return torch.tensor(losses, requires_grad=True).sum()  # trap: loss-rewrapped


def of_scales_well(outs, y):
    return torch.stack([nn.functional.l1_loss(out, y) for out in outs]).sum()


def scales(net, x, y, opt):
    opt.zero_grad()
    loss = of_scales(net(x), y)
    loss.backward()
    better = of_scales_well(net(x), y)
    better.backward()
    opt.step()


class Several:
    def __init__(self, weights):
        self.weights, self.error = torch.tensor(weights), nn.MSELoss()

    def __call__(self, outputs, targets):
        parts = [self.error(o, t) for o, t in zip(outputs, targets)]
        return (self.weights * torch.tensor(parts, requires_grad=True)).sum()  # trap: loss-rewrapped


def learnt_weights(names):
    return torch.tensor([1.0 for _ in names], requires_grad=True)
