"""A loop over pairs that reads the whole lists adds the same number in every turn.

`for p, t in zip(predictions, targets): loss += mse(predictions, targets)` runs, and its loss falls. But the loop's own names are never
read: each turn adds the loss of everything, and a length or a weight that belongs to one entry is applied to all of them.

Use the names of the loop:

```python
for p, t, n in zip(predictions, targets, lengths, strict=True):
    loss = loss + F.mse_loss(p[:n], t[:n])
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/ming024/FastSpeech2/commit/e3bf52c361f8256d615248be00a84f031981ee8d",
    "https://github.com/mozilla/TTS/commit/460d0675a6657f4037d38340ed7b997eb90ef593",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["padded"] == 0
    assert bad["padded"] > 0
