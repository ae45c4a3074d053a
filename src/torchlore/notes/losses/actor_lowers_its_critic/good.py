import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=0.003)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for _ in range(300):
    state, action = torch.rand(64, 2), 2 * torch.rand(64, 1) - 1
    reward = -(action - state[:, :1]).abs()
    critic_loss = F.mse_loss(critic(torch.cat([state, action], 1)), reward)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    q_values = critic(torch.cat([state, actor(state)], 1))
    actor_loss = -q_values.mean()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()

state = torch.rand(500, 2)
result = {"reward": -(actor(state) - state[:, :1]).abs().mean().item()}
