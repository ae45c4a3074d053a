import torch
from torch import nn

teacher, student = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)), nn.Linear(4, 4)
x = torch.randn(2, 4)
target = teacher(x).detach()  # trap: detach-after-frozen-forward
loss = (student(x) - teacher(x).detach()).pow(2).mean()  # trap: detach-after-frozen-forward
features = nn.Sequential(teacher, nn.ReLU())(x).detach()  # trap: detach-after-frozen-forward

with torch.no_grad():
    target = teacher(x).detach()
out = student(x)
small = student(x).detach()  # one layer keeps next to nothing
shown = out.detach()  # one branch of a result that is used


@torch.inference_mode()
def predict(x):
    return teacher(x).detach()


def unknown(function, x):
    return function(x).detach()


def named(images, student):
    features = teacher(images)
    target = features.detach()  # trap: detach-after-frozen-forward
    both = teacher(images)
    return target, both.detach(), student(both)
