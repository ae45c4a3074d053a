import torch
from torch import nn

teacher = nn.Sequential(nn.Linear(32, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 16))
teacher.eval()
student = nn.Linear(16, 4)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
images, labels = torch.randn(64, 32), torch.randint(0, 4, (64,))
kept = []


def keep(tensor):
    kept.append(tensor.nbytes)
    return tensor


for _ in range(3):
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor), torch.no_grad():
        features = teacher(images)
    loss = nn.functional.cross_entropy(student(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

result = {"bytes_kept": sum(kept), "teacher_gradients": sum(p.grad is not None for p in teacher.parameters())}
