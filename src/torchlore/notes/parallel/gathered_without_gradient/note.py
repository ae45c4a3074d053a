"""`dist.all_gather` hands out copies without a graph: a loss on them alone teaches nothing.

A contrastive loss over several processes wants the features of all of them. `dist.all_gather(parts, features)` fills `parts` with
numbers; their history stays behind, that of this process's own features too. A loss of what was gathered reaches only what comes in
later, such as a learned temperature, so `backward()` runs, the loss has the right value, and both encoders stay as they were drawn.
On one GPU, where the gathering is left out, all is well.

Put this process's own features back, or gather with a graph:

```python
dist.all_gather(parts, features)
parts[dist.get_rank()] = features           # its own part learns, and DDP averages over the processes
parts = torch.distributed.nn.all_gather(features)   # or: everybody's part sends a gradient back
```

Under `no_grad`, for a queue of keys or a score, copies are what is wanted.
"""

ROWS = ()
SOURCES = (
    "https://github.com/3dlg-hcvc/DuoduoCLIP/issues/10",
    "https://github.com/mlfoundations/open_clip/issues/1047",
    "https://github.com/kohjingyu/fromage/issues/33",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0
