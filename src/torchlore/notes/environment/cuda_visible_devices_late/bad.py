import os

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""  # trap: cuda-visible-devices-late

try:
    used = torch.ones(2, device=device).is_cuda
except RuntimeError:
    used = False
result = {"gpu_still_used": used}
