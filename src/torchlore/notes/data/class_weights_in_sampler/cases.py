from collections import Counter

import numpy as np
import torch
from torch.utils.data import WeightedRandomSampler


def from_counts(y: np.ndarray) -> WeightedRandomSampler:
    counts = np.bincount(y)
    weights = 1.0 / torch.tensor(counts, dtype=torch.float)
    return WeightedRandomSampler(weights, len(y))  # trap: class-weights-in-sampler


def written_out(y: np.ndarray) -> WeightedRandomSampler:
    class_weights = [0.1, 0.9]
    return WeightedRandomSampler(weights=class_weights, num_samples=len(y))  # trap: class-weights-in-sampler


def direct(y: torch.Tensor) -> WeightedRandomSampler:
    return WeightedRandomSampler(len(y) / torch.bincount(y).float(), len(y))  # trap: class-weights-in-sampler


def looked_up(y: torch.Tensor) -> WeightedRandomSampler:
    weights = 1.0 / torch.bincount(y)
    return WeightedRandomSampler(weights[y], len(y))


def listed(y: list[int], counts: list[int]) -> WeightedRandomSampler:
    class_weights = [1.0 / c for c in counts]
    weights = [class_weights[label] for label in y]
    return WeightedRandomSampler(weights, len(weights))


def given(weights: torch.Tensor) -> WeightedRandomSampler:
    return WeightedRandomSampler(weights, 100)


def one_pass(y: list[int], counts: list[int]) -> WeightedRandomSampler:
    class_weights = [1.0 / counts[label] for label in y]
    return WeightedRandomSampler(class_weights, len(y))


def counted(y: list[int]) -> WeightedRandomSampler:
    counts = Counter(y)
    class_weights = torch.tensor([1.0 / counts[c] for c in sorted(counts)])
    return WeightedRandomSampler(class_weights, num_samples=len(y))  # trap: class-weights-in-sampler


def from_a_dict(y: list[int]) -> WeightedRandomSampler:
    counts = Counter(y)
    inverse = {c: len(y) / n for c, n in counts.items()}
    return WeightedRandomSampler(list(inverse.values()), len(y))  # trap: class-weights-in-sampler


def by_label(y: list[int]) -> WeightedRandomSampler:
    counts = Counter(y)
    weights = [1.0 / counts[label] for label in y]
    return WeightedRandomSampler(torch.tensor(weights), len(y))


def per_sample(y: list[int]) -> WeightedRandomSampler:
    counts = Counter(y)
    inverse = {c: len(y) / n for c, n in counts.items()}
    return WeightedRandomSampler([inverse[label] for label in y], len(y))


def by_unique(y) -> None:
    counts = np.array([len(np.where(y == label)[0]) for label in np.unique(y)])
    weight = 1.0 / counts
    WeightedRandomSampler(weight, len(y))  # trap: class-weights-in-sampler
    _, seen = np.unique(y, return_counts=True)
    WeightedRandomSampler(1.0 / seen, num_samples=len(y))  # trap: class-weights-in-sampler
    WeightedRandomSampler([0.1, 0.9], num_samples=len(y))  # trap: class-weights-in-sampler
    WeightedRandomSampler([0.1, 0.9, 0.4], 5, replacement=True)
    samples = np.array([weight[label] for label in y])
    WeightedRandomSampler(samples, len(samples))
    WeightedRandomSampler(samples, len(y), replacement=False)  # trap: class-weights-in-sampler
    WeightedRandomSampler(samples, len(y) // 4, replacement=False)
