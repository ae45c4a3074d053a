import torch
import torch.nn.functional as F
from torch import nn

x = torch.randn(256, 6)
teacher = nn.Linear(6, 4)
student = nn.Linear(6, 4)
with torch.no_grad():
    target = F.softmax(teacher(x), dim=1)

optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
for _ in range(100):
    guess = F.softmax(student(x), dim=1)
    loss = F.kl_div(guess, target, reduction="batchmean")  # trap: kl-div-on-probabilities
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    distance = (F.softmax(student(x), dim=1) - target).abs().sum(1).mean().item()
result = {"loss": loss.item(), "distance": distance}
