import copy

import torch
from torch import nn

model = nn.Linear(2, 2)


def wrong(device):
    a = torch.optim.SGD([p.detach() for p in model.parameters()], lr=0.1)  # trap: optimizer-holds-copies
    b = torch.optim.Adam(model.state_dict().values())  # trap: optimizer-holds-copies
    c = torch.optim.Adam(copy.deepcopy(model).parameters())  # trap: optimizer-holds-copies
    held = [p.to(device) for p in model.parameters()]
    d = torch.optim.AdamW(held)  # trap: optimizer-holds-copies
    return a, b, c, d


def clean(images, device):
    a = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    b = torch.optim.SGD(list(model.parameters()), lr=0.1)
    student = copy.deepcopy(model)
    c = torch.optim.SGD(student.parameters(), lr=0.1)
    d = torch.optim.Adam([image.detach().requires_grad_() for image in images])
    latent = torch.zeros(3).to(device).requires_grad_()
    e = torch.optim.Adam([latent])
    norms = [p.data.norm() for p in model.parameters()]
    return a, b, c, d, e, norms


class Pilot:
    def __init__(self):
        self.critic = nn.Linear(4, 1)
        self.actor, self.critic_target = nn.Linear(3, 1), copy.deepcopy(self.critic)
        self.opt = torch.optim.Adam([*self.critic.parameters(), *self.critic_target.parameters()])  # trap: optimizer-holds-copies
        self.other = torch.optim.Adam(list(self.critic.parameters()) + list(self.actor.parameters()))


class Frozen:
    def __init__(self):
        self.student = nn.Linear(4, 1)
        self.teacher = copy.deepcopy(self.student)
        both = [*self.student.parameters(), *self.teacher.parameters()]
        self.opt = torch.optim.Adam([p for p in both if p.requires_grad])
        self.apart = torch.optim.Adam(self.student.parameters())
