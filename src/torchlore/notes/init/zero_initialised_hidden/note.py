"""Hidden layers that all start at zero, or at one constant, stay identical: one unit instead of many.

Units of a layer that start equal get equal gradients and stay equal for ever; with zeros in two layers in a row most gradients
are zero as well, and the network learns its output bias only. Nothing raises, the loss settles at the value of a constant
guess.

Break the symmetry: leave torch's default, or

```python
if isinstance(module, nn.Linear):
    nn.init.kaiming_uniform_(module.weight, nonlinearity="relu")
    nn.init.zeros_(module.bias)   # a bias may start at zero
```

Zeros are right for single layers by name: the last one of a residual branch, the second matrix of a LoRA pair, a gate.
"""

from torchlore.watch.pictures import Alarm, Step, layer_line

ROWS = ()
SOURCES = ("https://github.com/mattiasegu/uncertainty_estimation_deep_learning/pull/7",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["distinct_units"] == 1
    assert good["distinct_units"] == 16
    assert good["accuracy"] > bad["accuracy"]


def watch(step: Step) -> Alarm | None:
    if step.number != 3:
        return None
    for one in step.trainable:
        weight = one.tensor
        if weight.dim() < 2 or weight.shape[0] < 2 or weight.device.type != "cpu" or not one.name.endswith("weight"):
            continue
        if bool((weight == weight[:1]).all()):
            message = f"all {weight.shape[0]} units of `{one.name}` are equal and stay equal; start from random values"
            told = f"after {step.number} steps every row of {tuple(weight.shape)} is the same"
            return Alarm(message, at=layer_line(step.run.modules(), weight), evidence=told)
    return None
