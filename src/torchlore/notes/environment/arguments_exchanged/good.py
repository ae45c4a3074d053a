import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


def linear_schedule(optimizer, num_warmup_steps, num_training_steps):
    def share(step):
        if step < num_warmup_steps:
            return step / num_warmup_steps
        return max(0.0, (num_training_steps - step) / (num_training_steps - num_warmup_steps))

    return LambdaLR(optimizer, share)


net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
num_training_steps = 20
num_warmup_steps = 2
schedule = linear_schedule(optimizer, num_warmup_steps, num_training_steps)
for _ in range(num_training_steps):
    optimizer.zero_grad()
    net(torch.ones(4, 2)).mean().backward()
    optimizer.step()
    schedule.step()

result = {"rate_at_the_end": schedule.get_last_lr()[0]}
