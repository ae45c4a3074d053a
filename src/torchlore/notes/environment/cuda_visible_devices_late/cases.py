"""Other spellings of cuda-visible-devices-late, and code that only looks like it."""
import os
from os import environ

import torch
from torch import nn

os.environ["CUDA_VISIBLE_DEVICES"] = "0"  # early enough: importing torch asks the driver nothing
os.environ["OMP_NUM_THREADS"] = "1"

model = nn.Linear(2, 2).cuda()
environ["CUDA_VISIBLE_DEVICES"] = "1"  # trap: cuda-visible-devices-late
DEVICE = torch.device("cuda")


def main(gpu):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu)  # trap: cuda-visible-devices-late
    print(torch.cuda.device_count())
    x = torch.ones(2).to("cuda:0")
    os.putenv("CUDA_VISIBLE_DEVICES", "2")  # trap: cuda-visible-devices-late
    return x


if __name__ == "__main__":
    main(1)
