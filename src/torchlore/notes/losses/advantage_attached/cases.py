import torch
from torch import nn
from torch.nn import functional as F

actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)


def ppo(optimizer, s, old_logp, rewards, pi):
    values = critic(s).squeeze(-1)
    ratios = torch.exp(pi.log_prob(s) - old_logp)
    advantages = rewards - values  # trap: advantage-attached
    first = ratios * advantages
    second = torch.clamp(ratios, 0.8, 1.2) * advantages
    loss = -torch.min(first, second) + 0.5 * F.mse_loss(values, rewards)
    optimizer.zero_grad()
    loss.mean().backward()
    optimizer.step()


def cut_where_it_is_used(optimizer, s, log_probs, returns):
    values = critic(s).squeeze(-1)
    advantages = returns - values
    loss = -(log_probs * advantages.detach()).mean() + F.mse_loss(values, returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def two_optimizers(first, second, s, log_probs, returns):  # what the policy leaves in the critic is zeroed
    values = critic(s).squeeze(-1)
    advantages = returns - values
    actor_loss = -(log_probs * advantages).mean()
    first.zero_grad()
    actor_loss.backward(retain_graph=True)
    first.step()
    second.zero_grad()
    F.mse_loss(values, returns).backward()
    second.step()


def given(optimizer, log_probs, values, old_values, returns):
    advantages = returns - old_values
    loss = -(log_probs * advantages).mean() + F.mse_loss(values, returns)
    loss.backward()
    optimizer.step()


def squared(dist, actions, returns, features, critic, opt):
    value = critic(features)
    gap = returns - value
    actor = -(dist.log_prob(actions) * gap).mean()  # trap: advantage-attached
    loss = actor + 0.5 * gap.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def squared_and_cut(dist, actions, returns, features, critic, opt):
    value = critic(features)
    gap = returns - value
    actor = -(dist.log_prob(actions) * gap.detach()).mean()
    loss = actor + 0.5 * gap.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def returned(dist, action, ret, value):
    advantage = ret - value
    actor = -(dist.log_prob(action) * advantage).mean()  # trap: advantage-attached
    critic = advantage.pow(2).mean()
    return actor + 0.5 * critic


def returned_right(dist, action, ret, value):
    advantage = ret - value
    actor = -(dist.log_prob(action) * advantage.detach()).mean()
    critic = advantage.pow(2).mean()
    return actor + 0.5 * critic


def from_a_rollout(optimizer, states, rewards):
    log_probs, values = [], []
    for s in states:
        pi = torch.distributions.Categorical(logits=actor(s))
        log_probs.append(pi.log_prob(pi.sample()))
        values.append(critic(s).squeeze(-1))
    advantage = rewards - torch.stack(values)
    loss = -(torch.stack(log_probs) * advantage.detach()).mean() + advantage.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
