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

import ast
from collections.abc import Iterator

from torchlore.check import tree
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://github.com/mattiasegu/uncertainty_estimation_deep_learning/pull/7",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
_CONSTANT = ("torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.constant_")
_LAYERS = ("torch.nn.Linear", "torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d", "torch.nn.ConvTranspose2d")


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
            return Alarm(message, evidence=f"after {step.number} steps every row of {tuple(weight.shape)} is the same")
    return None


def find(source: Source) -> Iterator[Hit]:
    written = [(call, call.args[0]) for call in source.calls(*_CONSTANT) if call.args]
    for call in source.methods("zero_", "fill_"):
        inner = tree.receiver(call)
        written.append((call, inner.value if isinstance(inner, ast.Attribute) and inner.attr == "data" else inner))
    for call, weight in written:
        if not isinstance(weight, ast.Attribute) or weight.attr != "weight" or not isinstance(weight.value, ast.Name):
            continue
        layer = weight.value.id
        if _every_layer(source, call, layer):
            message = (
                f"all units of `{layer}` start equal and stay equal: use `nn.init.kaiming_uniform_({layer}.weight)`"
            )
            yield source.hit(call, message)


def _every_layer(source: Source, call: ast.Call, layer: str) -> bool:
    """In a function or loop that is run over all modules, under no test but `isinstance(layer, nn.Linear)`."""
    tests = tree.conditions(source, call)
    kinds = [_kinds(source, test, layer) for test, branch in tests if branch]
    others = [test for test, branch in tests if not branch and not _kinds(source, test, layer)]
    if not kinds or not all(kinds) or others or not any(set(_LAYERS) & set(names) for names in kinds):
        return False
    home = tree.function(source, call)
    applied = home is not None and any(
        isinstance(arg, ast.Name | ast.Attribute) and tree.dotted(arg).rpartition(".")[2] == home.name
        for one in source.methods("apply")
        for arg in one.args
    )
    walks = [loop.iter for loop in tree.loops(source, call) if isinstance(loop, ast.For)]
    looped = any(isinstance(one, ast.Call) and tree.dotted(one.func).endswith("modules") for one in walks)
    return applied or looped


def _kinds(source: Source, test: ast.expr, layer: str) -> list[str]:
    """The classes of an `isinstance(layer, ...)`; [] for any other test."""
    if not isinstance(test, ast.Call) or source.name(test.func) != "isinstance" or len(test.args) != 2:
        return []
    classes = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
    return [source.name(one) for one in classes] if source.code(test.args[0]) == layer else []
