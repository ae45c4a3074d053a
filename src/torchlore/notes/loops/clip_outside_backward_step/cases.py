import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Fit:
    def __init__(self, model, limit=1.0):
        self.model, self.limit = model, limit
        self.optimizer = torch.optim.Adam(model.parameters())

    def after(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
            if self.limit is not None:
                clip_grad_norm_(self.model.parameters(), self.limit)  # trap: clip-outside-backward-step

    def before(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            clip_grad_norm_(self.model.parameters(), self.limit)  # trap: clip-outside-backward-step
            loss.backward()
            self.optimizer.step()

    def right(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            if self.limit is not None:
                clip_grad_norm_(self.model.parameters(), self.limit)
            self.optimizer.step()

    def in_a_helper(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.finish()

    def finish(self):
        torch.nn.utils.clip_grad_value_(self.model.parameters(), 0.5)
        self.optimizer.step()


def two_networks(g, d, loader):
    opt_g, opt_d = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    for z, real in loader:
        opt_d.zero_grad()
        (d(g(z).detach()).mean() - d(real).mean()).backward()  # trap: detach-after-frozen-forward
        clip_grad_norm_(d.parameters(), 1.0)
        opt_d.step()
        opt_g.zero_grad()
        (-d(g(z)).mean()).backward()
        clip_grad_norm_(g.parameters(), 1.0)
        opt_g.step()


class Either:
    """In each branch the order is right; the optimizer is None before `build`."""

    def __init__(self, model, loader, use_scaler):
        self.model, self.loader, self.optimizer = model, loader, None
        self.scaler = torch.amp.GradScaler("cuda") if use_scaler else None

    def build(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self):
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            if self.scaler is not None:
                self.scaler.scale(loss).backward()
                self.scaler.unscale_(self.optimizer)
                clip_grad_norm_(self.model.parameters(), 12)
                self.scaler.step(self.optimizer)
                self.scaler.update()
            else:
                loss.backward()
                clip_grad_norm_(self.model.parameters(), 12)
                self.optimizer.step()


def in_parts(model, optimizer, loader, k):
    for i, (x, y) in enumerate(loader):
        loss = nn.functional.mse_loss(model(x), y) / k
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)  # trap: clip-outside-backward-step
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()


class Agent:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(6, 1)
        self.actor_opt = torch.optim.Adam(self.actor.parameters())
        self.critic_opt = torch.optim.Adam(self.critic.parameters())

    def update_critic(self, x, target):
        self.critic_opt.zero_grad()
        nn.functional.mse_loss(self.critic(x), target).backward()
        clip_grad_norm_(self.actor.parameters(), 0.5)  # trap: clip-outside-backward-step
        self.critic_opt.step()

    def update_actor(self, s):
        self.actor_opt.zero_grad()
        (-self.critic(torch.cat([s, self.actor(s)], 1)).mean()).backward()
        clip_grad_norm_(self.actor.parameters(), 0.5)
        self.actor_opt.step()

    def too_early(self, loss, shared):
        clip_grad_norm_(shared, 1.0)  # trap: clip-outside-backward-step
        loss.backward()
        return loss


class ByHand:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.Adam(net.parameters())

    def clip(self):
        for p in self.net.parameters():
            p.grad.data.clamp_(-1, 1)

    def early(self, x, y):
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.clip()  # trap: clip-outside-backward-step
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()

    def right(self, x, y):
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.clip()
        self.opt.step()
        self.opt.zero_grad()


def two_in_turn(actor, critic, states, targets, of_actor, of_critic):
    of_actor.zero_grad()
    of_critic.zero_grad()
    (critic(states) - targets).pow(2).mean().backward()
    for p in critic.parameters():
        p.grad.data.clamp_(-1, 1)
    of_critic.step()
    (-critic(actor(states)).mean()).backward()
    for p in actor.parameters():
        p.grad.data.clamp_(-1, 1)
    of_actor.step()


class Pair:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def copied(self, s, target):
        value_loss = nn.functional.mse_loss(self.critic(s), target)
        self.critic_optimizer.zero_grad()
        value_loss.backward()
        clip_grad_norm_(self.actor.parameters(), 0.5)  # trap: clip-outside-backward-step
        self.critic_optimizer.step()
        policy_loss = self.actor(s).mean()
        self.actor_optimizer.zero_grad()
        policy_loss.backward()
        clip_grad_norm_(self.actor.parameters(), 0.5)
        self.actor_optimizer.step()

    def joint(self, s, target):
        loss = nn.functional.mse_loss(self.critic(s), target) + self.actor(s).mean()
        self.critic_optimizer.zero_grad()
        self.actor_optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(self.actor.parameters(), 0.5)
        self.critic_optimizer.step()
        self.actor_optimizer.step()


def the_first_group(net, loss):
    optimizer = torch.optim.SGD([{"params": net.a.parameters()}, {"params": net.b.parameters(), "lr": 1.0}], lr=0.1)
    single = torch.optim.SGD(net.parameters(), lr=0.1)
    loss.backward()
    params = optimizer.param_groups[0]["params"]
    clip_grad_norm_(params, 1.0)  # trap: clip-outside-backward-step
    clip_grad_norm_(single.param_groups[0]["params"], 1.0)
    for group in optimizer.param_groups:
        clip_grad_norm_(group["params"], 1.0)
    return optimizer


def of_weights(model):
    for p in model.parameters():
        if p.grad is not None:
            p.data.clamp_(-1, 1)  # trap: clip-outside-backward-step
