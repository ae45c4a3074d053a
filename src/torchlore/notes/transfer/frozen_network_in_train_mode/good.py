import torch
from torch import nn

teacher = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 2))
teacher.requires_grad_(False)
teacher.eval()
student = nn.Linear(4, 2)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
x = torch.randn(64, 4)
answers = []
for _ in range(24):
    with torch.no_grad():
        target = teacher(x)
    answers.append(target)
    optimizer.zero_grad()
    nn.functional.mse_loss(student(x), target).backward()
    optimizer.step()

result = {"differs": (answers[0] - answers[-1]).abs().max().item()}
