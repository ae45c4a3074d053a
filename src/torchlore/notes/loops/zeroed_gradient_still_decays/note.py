"""A gradient set to zero does not keep a row as it is: weight decay shrinks it all the same.

To train the embedding of one new word, the gradients of all others are set to 0 between `backward()` and `step()`. AdamW takes its
decay from the weights, not from the gradient, and 0.01 is its default: the thousands of rows that were to stay as they are go down
in every step, and the pretrained words lose what they meant. Adam and SGD with `weight_decay` add the decay to the zero, and the rows
move as well.

Give the optimizer no decay, or put the rows back behind the step:

```python
optimizer = torch.optim.AdamW(embedding.parameters(), lr=5e-4, weight_decay=0.0)
```

The gradient of rows that are zero already, as in a pruned layer, is another matter: zero does not shrink.
"""

ROWS = ()
SOURCES = ("https://github.com/huggingface/diffusers/issues/1009",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] > 0.001
    assert good["moved"] == 0
