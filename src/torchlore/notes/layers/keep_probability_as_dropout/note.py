"""`nn.Dropout` takes the share that is dropped: a `keep_prob` of 0.9 zeroes nine of ten.

TensorFlow 1 asked for the probability to keep, `tf.nn.dropout(x, keep_prob=0.9)`, and code that was carried over still names it so.
Torch zeroes each element with probability `p`. Given 0.9 the layer leaves a tenth, given 1.0 nothing at all: training hardly
moves, evaluation, where dropout is off, looks better than training, and nothing fails.

```python
self.drop = nn.Dropout(1 - keep_prob)
```

At 0.5 both mean the same, which is how it stays unseen until somebody changes the number.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = (
    "https://github.com/hassony2/kinetics_i3d_pytorch/issues/6",
    "https://github.com/piergiaj/pytorch-i3d/issues/58",
    "https://github.com/huggingface/transformers/issues/22767",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["left"] < 0.15
    assert good["left"] > 0.85


def watch(call: Annotated[Call, "forward"]) -> Alarm | None:
    if call.memory.setdefault("looked", 0):
        return None
    call.memory["looked"] = 1
    for name, layer in call.owner.named_modules():
        share = getattr(layer, "p", None)
        dropout = type(layer).__module__ == "torch.nn.modules.dropout" and layer.training
        if dropout and isinstance(share, float) and 0.9 < share <= 1:
            what = f"`{name}`" if name else type(layer).__name__
            told = (
                f"{what} zeroes {share:.3g} of what it gets: p is the share that is dropped, not the one that is kept"
            )
            return Alarm(told, evidence=f"{type(layer).__name__} with p={share}", certain=False)
    return None
