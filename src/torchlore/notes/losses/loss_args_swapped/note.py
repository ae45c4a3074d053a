"""Torch's losses take the prediction first: `criterion(target, output)` is another function.

Some losses do not care: MSE and L1 are symmetric. The others do. Cross-entropy on swapped arguments raises, or, with float
targets, takes the targets for logits; `binary_cross_entropy(labels, p)` clamps the logarithm of hard 0 and 1 at -100 and gives
a loss of the wrong size; `kl_div` computes the reverse divergence; NLL and Gaussian likelihoods become nonsense. Keras and
scikit-learn have the target first, which is where the slip comes from.

```python
loss = criterion(output, target)
```
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/lucidrains/DALLE2-pytorch/issues/30",
           "https://github.com/philtabor/Deep-Q-Learning-Paper-To-Code/issues/19")  # fmt: skip
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert good["accuracy"] > 0.9
    assert bad["accuracy"] < 0.8
    a, b = torch.rand(5), torch.rand(5)
    assert F.mse_loss(a, b) == F.mse_loss(b, a)
    assert F.binary_cross_entropy(a, b) != F.binary_cross_entropy(b, a)


def watch(
    call: Annotated[
        Call, "cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits", "nll_loss", "kl_div"
    ],
) -> Alarm | None:
    prediction, target = call.input, call.target
    if prediction is None or target is None or prediction.requires_grad or not target.requires_grad:
        return None
    return Alarm(f"{call.name} takes the prediction first; here the second argument is the one with a graph, swap them")
