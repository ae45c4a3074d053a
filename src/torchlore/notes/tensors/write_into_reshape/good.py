import torch

scores = torch.ones(2, 3, 4).transpose(1, 2)
flat = scores.reshape(-1).clone()
flat[torch.tensor([0, 5, 11])] = float("-inf")
scores = flat.view(scores.shape)

result = {"masked": int(scores.isinf().sum())}
