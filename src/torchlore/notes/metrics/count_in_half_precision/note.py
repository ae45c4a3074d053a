"""A count in bfloat16 stops at 256, in float16 at 2048: adding 1 no longer changes it.

bfloat16 has eight significant bits. From 256 on it holds even numbers only, from 512 on every fourth, and `256 + 1` is rounded back to
256. A tensor of that type that adds up correct predictions, samples or losses over the batches stands still, or moves in
wrong steps, and the accuracy comes out too low with no sign of it. Such a counter often takes the `dtype` of the model.

Count in integers, and add up losses in float32:

```python
correct = torch.zeros((), dtype=torch.long, device=device)
total_loss = torch.zeros((), dtype=torch.float32, device=device)
```

The sum inside one batch is safe: `x.sum()` of a bfloat16 tensor is added up in float32 and rounded once.
"""

ROWS = ()
SOURCES = (
    "https://github.com/jax-ml/ml_dtypes/issues/63",
    "https://github.com/pytorch/executorch/pull/20090",
    "https://github.com/NVIDIA/cutlass/issues/1188",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch

    assert good["correct"] == 400
    assert bad["correct"] == 256
    assert torch.tensor(2048.0, dtype=torch.float16) + 1 == 2048
    assert torch.ones(400, dtype=torch.bfloat16).sum() == 400
