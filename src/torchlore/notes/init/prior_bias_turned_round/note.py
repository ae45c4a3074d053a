"""A bias for rare positives is `-log((1 - p) / p)`: without the minus everything starts positive.

A detector with one object in a hundred places starts best where it says so: with the bias `-log((1 - p) / p)`, about -4.6 for
`p = 0.01`, the first loss is small and the rare positives are heard. With the sign turned round each place starts with a
probability of 0.99, the first loss is that of a net that is sure and wrong, and its gradients drown the rest.

```python
nn.init.constant_(head.bias, -math.log((1 - prior) / prior))
nn.init.constant_(head.bias, math.log(prior / (1 - prior)))  # the same
```
"""

ROWS = ()
SOURCES = ("https://github.com/yjh0410/CenterNet-Lite/pull/14", "https://arxiv.org/abs/1708.02002")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["chance"] - 0.99) < 1e-4
    assert abs(good["chance"] - 0.01) < 1e-4
