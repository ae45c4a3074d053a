"""`WeightedRandomSampler` wants one weight for each sample, not one for each class.

Given the weights of two classes it draws the indices 0 and 1 only: the network trains on two samples, over and over, and
the loss falls beautifully. Nothing compares the number of weights with the length of the dataset.

With `replacement=False` and as many draws as samples each sample is drawn once, whatever its weight: nothing is balanced.

Look the weight of each sample up by its label: `WeightedRandomSampler(class_weights[labels], num_samples=len(labels))`.
"""

from torchlore.watch.pictures import Alarm, Batch

ROWS = ()
SOURCES = ("https://github.com/deep-voice/soundbay/pull/49",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    from torch.utils.data import WeightedRandomSampler

    assert bad["different_samples"] == 2
    assert good["different_samples"] > 50
    assert sorted(WeightedRandomSampler([1.0, 9.0, 9.0], 3, replacement=False)) == [0, 1, 2]


def watch(batch: Batch) -> Alarm | None:
    sampler = getattr(batch.loader, "sampler", None)
    if sampler is None or type(sampler).__name__ != "WeightedRandomSampler" or batch.index > 0:
        return None
    weights, count = len(sampler.weights), len(batch.dataset)
    if weights >= count:
        return None
    told = f"WeightedRandomSampler has {weights} weights for {count} samples, so only the first {weights} are drawn; give it one weight a sample, class_weights[labels]"
    return Alarm(told, at=batch.record.place)
