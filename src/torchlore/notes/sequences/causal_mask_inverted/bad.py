import torch
import torch.nn.functional as F


def attend(x):
    mask = torch.triu(torch.ones(6, 6, dtype=torch.bool), diagonal=1)
    mask[-1, -1] = True
    return F.scaled_dot_product_attention(x, x, x, attn_mask=mask)  # trap: causal-mask-inverted


x = torch.randn(2, 6, 8)
other = x.clone()
other[:, -1] += 1
result = {"first_sees_last": (attend(x) - attend(other))[:, 0].abs().max().item()}
