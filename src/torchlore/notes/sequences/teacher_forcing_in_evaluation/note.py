"""A decoder that is given the true words while it is evaluated scores what it will never do in use.

With `teacher_forcing_ratio=0.5` as the default of `forward`, `model(src, trg)` in the validation loop hands the decoder the right word
at half of its steps. Its own mistakes do not pile up as they do when it has to go on from what it said itself, so loss and accuracy
look better than they are, they differ from run to run, and the best checkpoint is chosen by them.

Turn it off where the model is evaluated, or let the model do that itself:

```python
output = model(src, trg, teacher_forcing_ratio=0)
use_truth = self.training and random.random() < self.teacher_forcing_ratio
```

A ratio of 1 all the way, as for the perplexity of a language model, is another thing: it is the same in training and evaluation.
"""

ROWS = ()
SOURCES = ("https://github.com/keon/seq2seq/issues/8", "https://github.com/keon/seq2seq/pull/9")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["given"] == 0  # words of the answer that the decoder was handed
    assert 0.2 < bad["given"] < 0.8
