import random

import numpy as np
import torch

from torchlore.recipes.seed import seed_everything


def augmented_batch(seed: int) -> torch.Tensor:
    seed_everything(seed)
    x = torch.rand(4, 8)
    flips = np.random.rand(4) < 0.5
    shift = random.randint(0, 7)
    noise = torch.from_numpy(np.random.randn(4, 8)).float()
    return torch.where(torch.from_numpy(flips)[:, None], x.flip(1), x).roll(shift, 1) + noise


result = {"repeats": torch.equal(augmented_batch(0), augmented_batch(0))}
