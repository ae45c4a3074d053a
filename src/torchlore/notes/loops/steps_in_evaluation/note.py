"""A validation loop that steps the optimizer trains on the validation data.

Copied from the training loop with its `backward()` and `step()`, or one function for both that asks for the phase only where it calls
`train()` or `eval()`: the network learns the samples it is judged by, and the figure says how well it remembers them. `eval()` changes
nothing about that, gradients and steps work in either mode.

Step in training only, and keep no graph otherwise:

```python
with torch.set_grad_enabled(phase == "train"):
    loss = criterion(model(x), y)
if phase == "train":
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```
"""

ROWS = ()
SOURCES = ("https://github.com/princeton-vl/pose-ae-train/issues/11", "https://github.com/NifTK/NiftyNet/issues/28")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["accuracy"] > 0.95  # of labels that were drawn at random
    assert good["accuracy"] < 0.75
