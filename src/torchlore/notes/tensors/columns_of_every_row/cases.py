import torch
import torch.nn.functional as F
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))


def learn(states, actions, rewards):
    q_values = net(states)
    loss = F.mse_loss(q_values[:, actions], rewards)  # trap: columns-of-every-row
    right = F.mse_loss(q_values.gather(1, actions[:, None]).squeeze(1), rewards)
    return loss + right


def likelihood(batches):
    for states, labels in batches:
        logp = F.log_softmax(net(states), dim=1)
        (-logp[:, labels].mean()).backward()  # trap: columns-of-every-row


def choices(states, labels):
    return net(states)[:, labels].argmax(1)


class Agent:
    def __init__(self, memory):
        self.net, self.memory = nn.Linear(4, 3), memory

    def update(self):
        states, actions, rewards = self.memory.sample(32)
        return (self.net(states)[:, actions] - rewards).pow(2).mean()  # trap: columns-of-every-row


def subset_of_classes(states, classes, keep):
    logits = net(states)
    few = torch.tensor([0, 2])
    return logits[:, classes] + logits[:, keep] + logits[:, few] + logits[:, 0] + logits[:, :2]


def one_class(states, target):
    return net(states)[:, target].sum()


def grad_cam(states, label=0):
    return net(states)[:, label].sum()


def diagonal(states, actions):
    q = net(states)
    return q[:, actions].diagonal()


def every_label(states, labels):
    logp = F.log_softmax(net(states), dim=1)
    return logp[:, labels.unique()].mean(), logp[:, int(labels[0])].mean()


one_class(torch.randn(2, 4), 1)
