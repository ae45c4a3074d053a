"""A forward hook that appends `output` keeps the graph and the activations of every batch.

The tensor a hook is given is part of the graph. Appended to a list, it keeps that whole graph alive: all activations of
that batch, and of every batch after it. Memory grows with each step until there is none left. Even a detached output is a
batch of activations kept for ever if the list is never emptied.
A hook that is added in every turn of a loop is worse: after a hundred turns a hundred of them run in each pass.

Store what you need of it, without its history:

```python
def hook(module, inputs, output):
    stats[name].append(output.detach().abs().mean().item())
```

If the activation itself is needed, overwrite it (`features[name] = output.detach()`) instead of collecting it, and remove
the hook when done: `handle.remove()`.
"""

ROWS = ()
SOURCES = ("https://github.com/boschresearch/Continuous-Recurrent-Units/pull/4",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["graphs_kept"] == 20
    assert good["graphs_kept"] == 0
