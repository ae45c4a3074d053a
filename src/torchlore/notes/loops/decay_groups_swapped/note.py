"""Weight decay on the biases and none on the matrices: the two groups are the wrong way round.

The usual split has one group for what decay should pull (matrices, kernels) and one with `weight_decay=0.0` for biases and the
scales of norms. A `not` left out of the test, or two lists in the wrong dict, turns it round: the norms' scales are pulled
towards zero and the matrices are not regularised at all. It trains; it only generalises a little worse, and a larger
`weight_decay` makes it worse still.

```python
decay = [p for p in model.parameters() if p.ndim >= 2]
spared = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": spared, "weight_decay": 0.0}], lr=1e-3)
```
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ()
SOURCES = ("https://github.com/facebookresearch/BalancingGroups/issues/6",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["scale"] < 0.9  # pulled towards zero
    assert good["scale"] > 1.0


def watch(call: Annotated[Call, "Optimizer"]) -> Alarm | None:
    groups = [one for one in getattr(call.owner, "param_groups", []) if one["params"]]
    pulled = [p for one in groups if one.get("weight_decay") for p in one["params"]]
    spared = [p for one in groups if one.get("weight_decay") == 0 for p in one["params"]]
    matrices = [p for p in spared if p.ndim >= 2]
    if not matrices or not pulled or any(p.ndim >= 2 for p in pulled) or len(pulled) < 2:
        return None
    return Alarm(
        f"weight decay pulls {len(pulled)} biases and scales and none of the {len(matrices)} matrices: the groups are the wrong "
        "way round"
    )
