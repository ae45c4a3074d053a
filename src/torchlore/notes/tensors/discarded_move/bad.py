import torch

labels = torch.tensor([0, 1, 1])
labels.float()  # trap: discarded-move

result = {"dtype": str(labels.dtype)}
