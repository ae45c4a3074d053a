"""The loss leaves out what `ignore_index` names, and an accuracy over all positions does not.

`ignore_index` holds for the loss alone. `(pred == target).sum() / target.numel()` counts every position: what stands for padding or
for an unlabelled pixel was never learned, so it is wrong nearly always, and the score falls with the share of padding in a batch.
Where padding is predicted by chance or by another loss, the score rises instead. Neither says how well the words are tagged.

Leave the same positions out of both counts:

```python
kept = target != PAD
hits += ((pred == target) & kept).sum().item()
total += kept.sum().item()
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/jsbaan/transformer-from-scratch/issues/7",
    "https://github.com/DaoyuanLi2816/Molecule-Generator/pull/21",
    "https://github.com/open-mmlab/mmsegmentation/issues/1209",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["accuracy"] < 0.8 * good["accuracy"]
    assert good["accuracy"] > 0.9
