import torch
from torch import nn

torch.manual_seed(0)
gamma = 0.9
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batch = (torch.ones(8, 1), torch.ones(8, 1), torch.ones(8, 1), torch.ones(8, 1))


def learn():
    state, reward, next_state, done = batch
    with torch.no_grad():
        target = reward + gamma * net(next_state) * (1 - done)
    loss = nn.functional.mse_loss(net(state), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for _ in range(400):
    learn()
result = {"value": net(torch.ones(1, 1)).item()}
