import torch

position = torch.zeros(2)
velocity = torch.ones(2)
path = []
for _ in range(4):
    path.append(position.clone())
    position += velocity

result = {"path": [point[0].item() for point in path]}
