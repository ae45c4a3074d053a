import torch
from torch import nn
from torch.distributions import Categorical


def actor_critic(model, opt, states, actions, advantages):
    dist = Categorical(logits=model(states))
    logp = dist.log_prob(actions)
    actor_loss = (logp * advantages.detach()).mean()  # trap: objective-not-negated
    loss = actor_loss - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def finished(log_probs, returns, opt):
    loss = (torch.stack(log_probs) * returns).sum()  # trap: objective-not-negated
    opt.zero_grad()
    loss.backward()
    opt.step()


class Agent:
    def __init__(self, actor, critic):
        self.actor, self.critic = actor, critic
        self.actor_opt = torch.optim.Adam(actor.parameters())
        self.critic_opt = torch.optim.Adam(critic.parameters())

    def wrong(self, s, a, y):
        critic_loss = nn.functional.mse_loss(self.critic(s, a), y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        q = self.critic(s, self.actor(s))  # trap: objective-not-negated
        actor_loss = q.mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

    def right(self, s, a, y):
        critic_loss = nn.functional.mse_loss(self.critic(s, a), y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()
        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()


def right(model, opt, states, actions, advantages, returns):
    dist = Categorical(logits=model(states))
    logp = dist.log_prob(actions)
    gain = (logp * advantages).mean()
    loss = 0.5 * (model(states).mean() - returns).pow(2).mean() - gain
    opt.zero_grad()
    loss.backward()
    opt.step()
    objective = (logp * returns).sum()
    (-objective).backward()
    turned = advantages.mean() - returns
    (logp * turned).mean().backward()


def generator(d, g, z, opt):
    loss = d(g(z)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def soft_dice(pred, target, smooth=1.0):
    intersection = (pred * target).sum()
    return (2.0 * intersection + smooth) / (pred.sum() + target.sum() + smooth)  # trap: objective-not-negated


def dice_as_it_should_be(pred, target, smooth=1.0):
    intersection = (pred * target).sum()
    dice = (2.0 * intersection + smooth) / (pred.sum() + target.sum() + smooth)
    return 1 - dice


def segment(net, opt, loader):
    for x, y in loader:
        loss = soft_dice(net(x).sigmoid(), y)
        other = dice_as_it_should_be(net(x).sigmoid(), y)
        opt.zero_grad()
        loss.backward()
        other.backward()
        opt.step()


def listed(log_probs, returns, opt, dist):
    dist.log_prob(dist.sample())
    losses = []
    for lp, ret in zip(log_probs, returns):
        losses.append(lp * ret)  # trap: objective-not-negated
    loss = torch.stack(losses).sum()
    loss.backward()
    opt.step()


def listed_right(log_probs, returns, opt):
    losses = []
    for lp, ret in zip(log_probs, returns):
        losses.append(-lp * ret)
    loss = torch.stack(losses).sum()
    loss.backward()
    opt.step()


class SoftDice(torch.nn.Module):
    def forward(self, p, m):
        above = 2 * (p * m).sum()
        return above / (p + m).sum()  # trap: objective-not-negated


def overlap_falls(net, x, m):
    loss = SoftDice()(net(x), m)
    loss.backward()


def test_gradient(net, x, labels, other):
    logs = torch.nn.functional.log_softmax(net(x), dim=-1)
    logs.gather(-1, labels).sum().backward()
    assert torch.equal(net.weight.grad, other)
