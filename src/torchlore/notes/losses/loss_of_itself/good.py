import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
student, teacher, x = nn.Linear(4, 3), nn.Linear(4, 3), torch.randn(8, 4)
with torch.no_grad():
    right = teacher(x)
guess = student(x)
loss = F.kl_div(F.log_softmax(guess, 1), F.softmax(right, 1), reduction="batchmean")
loss.backward()

result = {"loss": loss.item(), "gradient": student.weight.grad.abs().sum().item()}
