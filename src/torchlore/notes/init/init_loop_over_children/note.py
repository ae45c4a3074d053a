"""An init loop over `children()` reaches the top level only; nested layers keep their default.

`for layer in model.children(): if isinstance(layer, nn.Conv2d): ...` looks at direct parts. In a model made of blocks these
are containers, no convolution is among them, and the loop initialises nothing or only the stem. Nothing raises.

Walk all of them:

```python
for layer in model.modules():
    if isinstance(layer, nn.Conv2d):
        nn.init.kaiming_normal_(layer.weight)
```

or `model.apply(init_weights)`, which does the same walk.
"""

ROWS = ("module-modules-children", "init-loop")
SOURCES = ("003:239", "004:31-33")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["initialised"] == 1
    assert good["initialised"] == 3
