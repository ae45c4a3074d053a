"""Other spellings of deprecated-amp, and code that only looks like it."""
import torch
from torch.cuda.amp import GradScaler, autocast, custom_fwd

scaler = GradScaler(enabled=False)  # trap: deprecated-amp
with autocast():  # trap: deprecated-amp
    y = torch.ones(2)
with torch.cuda.amp.autocast(False):  # trap: deprecated-amp
    y = torch.ones(2)


class Double(torch.autograd.Function):
    @staticmethod
    @custom_fwd  # trap: deprecated-amp
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, grad):
        return 2 * grad


# clean
scaler = torch.amp.GradScaler("cuda", enabled=False)
with torch.amp.autocast("cuda", dtype=torch.bfloat16), torch.autocast("cpu"):
    y = torch.ones(2)
