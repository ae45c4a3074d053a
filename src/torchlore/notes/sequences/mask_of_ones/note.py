"""A mask of ones beside a padded batch masks nothing.

`pad_sequence` fills short sequences up, and the mask says which places were filled. `torch.ones(tokens.shape)` or
`torch.ones_like(tokens)` says that all are real: attention looks at the padding, means divide by the longest length, and what a
sequence gives depends on what it is batched with. A mask that `pad_sequence` fills up with the id of the padding says the same where that id is 1. The code
looks complete, and the loss goes down, only less far.

```python
mask = tokens != pad_id
mask = torch.arange(tokens.size(1)) < lengths[:, None]
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/yg211/bert_nli/pull/3",
    "https://github.com/JoakimEdin/medical-coding-reproducibility/issues/13",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["mean"] == 3.0
    assert bad["mean"] < 2
