"""Without a DistributedSampler every process reads the same batches: two do the work of one.

DistributedDataParallel averages gradients; it does not divide the data. A plain DataLoader walks through all of it in each
process, and with `shuffle=True` and one seed for all even in the same order. The average of equal gradients is that same
gradient: N processes cost N times as much and train exactly what one would, with the batch size of one.

```python
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=32, sampler=sampler)
for epoch in range(epochs):
    sampler.set_epoch(epoch)
```

Lightning, Accelerate and the Trainer of transformers put the sampler in by themselves.
"""

ROWS = ()
SOURCES = ("https://github.com/openspeech-team/openspeech/issues/149", "https://github.com/Parskatt/RoMa/issues/32")
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["common"] == 32
    assert good["common"] == 0
