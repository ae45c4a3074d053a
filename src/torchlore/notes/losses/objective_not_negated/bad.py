import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
policy = nn.Linear(3, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)

for _ in range(150):
    state = torch.randn(64, 3)
    dist = Categorical(logits=policy(state))
    action = dist.sample()
    rewards = (action == (state[:, 0] > 0)).float()
    advantage = rewards - rewards.mean()
    loss = (dist.log_prob(action) * advantage).mean()  # trap: objective-not-negated
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

state = torch.randn(500, 3)
result = {"good_actions": (policy(state).argmax(1) == (state[:, 0] > 0)).float().mean().item()}
