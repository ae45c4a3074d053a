"""Other spellings of torch-seed-alone, and code that only looks like it."""
import random

import numpy
import torch
from numpy.random import default_rng


def setup(args):
    torch.manual_seed(args.seed)  # trap: torch-seed-alone
    torch.cuda.manual_seed_all(args.seed)


def batch(data):
    picked = random.sample(range(len(data)), 8)
    numpy.random.shuffle(picked)
    return [data[i] for i in picked]


# clean: a generator with a seed of its own, and no other draws
def noise(seed):
    rng = default_rng(seed)
    own = random.Random(seed)
    return rng.normal(size=3), own.random()


class Pairs:
    def __getitem__(self, i):
        seed = numpy.random.randint(2**31)
        torch.manual_seed(seed)
        image = self.turn(self.images[i])
        torch.manual_seed(seed)
        return image, self.turn(self.masks[i])
