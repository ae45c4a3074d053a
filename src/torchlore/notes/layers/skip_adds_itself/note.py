"""`x = self.conv(x)` and then `x += x`: the input is gone, and the skip adds the branch to itself.

A residual block adds its input to what its layers made of it. Written with one name for both, the input is gone when it is to be
added: `x += x` doubles the branch, a batch norm behind it takes the two out again, and the network is a plain one without any skip. The
shapes fit, it trains, only deep ones stop getting better, as they did before there were skips.

Keep the input under its own name:

```python
out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
return F.relu(out + x)
```
"""

ROWS = ()
SOURCES = ("https://github.com/werner-duvaud/muzero-general/issues/89",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["comes through"] == 0  # a branch of zeros, added to itself
    assert good["comes through"] == 1
