import torch
import torch.nn.functional as F


def attend(x):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


x = torch.randn(2, 6, 8)
other = x.clone()
other[:, -1] += 1
result = {"first_sees_last": (attend(x) - attend(other))[:, 0].abs().max().item()}
