import torch
import torch.nn.functional as F

left, right = torch.randn(16, 4, requires_grad=True), torch.randn(16, 4)
same = torch.arange(16) % 2

loss = F.cosine_embedding_loss(left, right, same, margin=-1.0)  # trap: targets-not-plus-minus-one
loss.backward()

result = {"gradient": left.grad[same == 0].abs().sum().item()}
