import torch

labels = torch.tensor([0, 1, 1])
labels = labels.float()

result = {"dtype": str(labels.dtype)}
