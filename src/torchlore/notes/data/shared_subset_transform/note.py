"""The parts of `random_split` share one dataset: a transform set on one is set on all.

`val_set.dataset.transform = val_transform` reaches through the subset to the one dataset behind it, and the training set
loses its augmentation, silently. The other way round, a dataset built with random augmentation and then split hands
augmented pictures to validation too.

Make two datasets over the same files, each with its own transform, and split the indices:

```python
order = torch.randperm(len(plain)).tolist()
train_set = Subset(ImageFolder(root, train_transform), order[:n])
val_set = Subset(ImageFolder(root, val_transform), order[n:])
```
"""

ROWS = ()
SOURCES = ("https://github.com/udacity/deep-learning-v2-pytorch/issues/132",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["train"] == bad["val"] == 1.0  # the training set lost its transform
    assert good["train"] == 10.0
    assert good["val"] == 1.0
