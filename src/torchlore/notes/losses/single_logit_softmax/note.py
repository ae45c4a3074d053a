"""A softmax over one output is 1 for every input: nothing can be learned from it.

Softmax divides by the sum over the dimension. With a single output there is nothing to divide by but itself, so the
probability is 1 whatever the network computes, and the gradient is exactly zero. Cross-entropy on one logit is the same
mistake: its loss is always 0.

For a yes-or-no answer use one output with a sigmoid, inside the loss:

```python
self.head = nn.Linear(64, 1)
loss = F.binary_cross_entropy_with_logits(self.head(x).squeeze(1), labels.float())
```

or two outputs with cross-entropy.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/keras-team/keras/issues/18909", "https://github.com/ultralytics/yolov3/issues/191")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch.nn import functional as F

    assert bad["moved"] == 0
    assert good["moved"] > 0
    assert good["accuracy"] > 0.9
    one = torch.randn(5, 1)
    assert torch.equal(one.softmax(1), torch.ones(5, 1))
    assert F.cross_entropy(one, torch.zeros(5, dtype=torch.long)) == 0


def watch(call: Annotated[Call, "softmax", "log_softmax"]) -> Alarm | None:
    scores, where = call.args[0], call.argument(1, "dim")
    if where is None or scores.dim() != 2 or scores.shape[where] != 1 or not scores.requires_grad:
        return None
    return Alarm(
        "a softmax over a single output is always 1; use a sigmoid", evidence=f"its input is {tuple(scores.shape)}"
    )
