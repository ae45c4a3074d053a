import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, 2)

    def forward(self, x):
        return self.fc(x)


class PPO:
    def __init__(self, size, device):
        self.policy = Net(size).to(device)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.policy_old = Net(size).to(device)  # trap: twin-starts-apart

    def act(self, x):
        return self.policy_old(x)

    def update(self, memory, loss):
        for batch in memory:
            self.optimizer.zero_grad()
            loss(self.policy(batch)).backward()
            self.optimizer.step()
        self.policy_old.load_state_dict(self.policy.state_dict())


class SoftTwin:
    def __init__(self, size):
        self.critic = Net(size)
        self.critic_target = Net(size)  # trap: twin-starts-apart

    def wanted(self, x):
        return self.critic_target(x)

    @torch.no_grad()
    def follow(self, tau):
        for slow, fast in zip(self.critic_target.parameters(), self.critic.parameters(), strict=True):
            slow.mul_(1 - tau).add_(fast, alpha=tau)


class CopiedAtOnce:
    def __init__(self, size):
        self.critic = Net(size)
        self.critic_target = Net(size)
        self.sync()

    def sync(self):
        self.critic_target.load_state_dict(self.critic.state_dict())


class DeepCopied:
    def __init__(self, size):
        self.actor = Net(size)
        self.actor_target = copy.deepcopy(self.actor)

    def sync(self):
        self.actor_target.load_state_dict(self.actor.state_dict())


class TwoCritics:
    def __init__(self, size):
        self.first = Net(size)
        self.second = Net(size)  # two opinions, on purpose

    def smaller(self, x):
        return torch.min(self.first(x), self.second(x))


def hard_update(target, source):
    target.load_state_dict(source.state_dict())


class ByHelper:
    def __init__(self, size):
        self.q = Net(size)
        self.q_target = Net(size)
        hard_update(self.q_target, self.q)

    def learn(self, step):
        if step % 100 == 0:
            self.q_target.load_state_dict(self.q.state_dict())


def crossed(size, path):
    teacher = Net(size)
    student = Net(size)
    teacher.load_state_dict(torch.load(path, map_location="cpu"))
    return teacher, student


def synced_first(size, batches):
    policy = Net(size)
    old = Net(size)
    for x in batches:
        old.load_state_dict(policy.state_dict())
        print(old(x), policy(x))
