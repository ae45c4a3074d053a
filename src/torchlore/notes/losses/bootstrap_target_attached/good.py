import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
critic = nn.Embedding(2, 1)  # state 0 pays 0.1, state 1 pays 1.9
nn.init.zeros_(critic.weight)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
gamma = 0.9

for _ in range(400):
    state = torch.randint(0, 2, (8,))
    jumps = torch.randint(0, 2, (8,))  # the next state does not depend on this one
    reward = torch.where(state == 1, 1.9, 0.1).unsqueeze(1)
    with torch.no_grad():
        target = reward + gamma * critic(jumps)
    loss = F.mse_loss(critic(state), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"gap": (critic.weight[1] - critic.weight[0]).item()}
