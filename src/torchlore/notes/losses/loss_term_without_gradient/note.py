"""A summand of the loss that was cut from its graph is a constant: no weight learns from it.

`loss = ce + 0.1 * aux.item()`, an auxiliary loss computed in NumPy or under `no_grad`, a penalty made of `argmax`: the sum is
right, the curve even shows the new part, and its gradient is zero. Nothing complains, because the other summands still have a
graph. The weight of such a term can be changed from 0.1 to 100 and the training stays the same to the last bit.

Add the tensor itself, and cut only what is logged:

```python
loss = ce + 0.1 * aux
log(aux.item())
```

What is counted (`argmax`, `>`, rounding) has no gradient at all; use the probabilities instead. To see it, ask once:
`aux.requires_grad` must be True.
"""

ROWS = ()
SOURCES = (
    "https://github.com/Ugenteraan/Deep_Hierarchical_Classification/issues/6",
    "https://github.com/sharif-apu/BJDD_CVPR21/issues/11",
    "https://github.com/yuval-reshef/StreamVC/issues/3",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["smooth_before"] == bad["smooth_after"]
    assert good["smooth_after"] < good["smooth_before"] / 2
