import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F

torch.manual_seed(0)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
states = torch.randn(64, 4)
actions = torch.randint(0, 3, (64,))
returns = (actions == 0).float()

values = critic(states).squeeze(-1)
log_prob = Categorical(logits=actor(states)).log_prob(actions)
advantage = returns - values.detach()
policy = -(log_prob * advantage).mean()
loss = policy + 0.5 * F.mse_loss(values, returns)
weighed = torch.autograd.grad(policy, critic.weight, retain_graph=True, allow_unused=True)[0]
optimizer.zero_grad()
loss.backward()
optimizer.step()

result = {"critic_gradient_of_the_policy": 0.0 if weighed is None else weighed.abs().sum().item()}
