import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
try:
    used = torch.ones(2, device=device).is_cuda
except RuntimeError:
    used = False
result = {"gpu_still_used": used}
