"""A language model's target is the next token: logits up to -1 against tokens from 1.

Position t of the output has seen token t. If token t is also its target, the model only has to copy its input: the loss falls to
almost nothing in a few hundred steps, and what it generates is one token for ever.

```python
logits = model(tokens)
loss = F.cross_entropy(logits[:, :-1].reshape(-1, vocabulary), tokens[:, 1:].reshape(-1))
```

Models of `transformers` shift by themselves when they are given `labels=tokens`. Models that read masked tokens, or that are meant
to reproduce their input, have the target at its own place.
"""

ROWS = ()
SOURCES = ("https://github.com/huggingface/transformers/issues/3711",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["loss"] < 0.1 < good["loss"]  # the next token cannot be known; one's own can
    assert bad["next_token_loss"] > 3
