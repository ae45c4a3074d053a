"""`nn.MSELoss(output, target)` makes a loss with two odd options; it computes nothing.

A loss class is made first and called afterwards. Its first arguments are options (`size_average`, `reduce`, a weight), so
tensors given there are taken for flags: it raises about the truth value of a tensor, or, with tensors of one element, does
not even raise and returns a module where a number was expected.

```python
loss = nn.MSELoss()(output, target)
loss = F.mse_loss(output, target)     # the function
```
"""

from collections.abc import Iterator

from torchlore.check import edits, uses, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/Lightning-AI/pytorch-lightning/issues/501",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, str], good: dict[str, str]) -> None:
    assert bad["error"] == "RuntimeError"
    assert good["error"] == ""


WORDS = ("*Loss*",)


def find(source: Source) -> Iterator[Hit]:
    for call, name in uses.calls_under(source, "torch.nn."):
        if len(call.args) != 2 or call.keywords or not name.endswith("Loss"):
            continue
        if all(values.sure(source, arg, "tensor") for arg in call.args):
            code, given = source.code(call.func), ", ".join(source.code(arg) for arg in call.args)
            edit = edits.replace(source, call, f"{code}()({given})")
            yield source.hit(call, f"this makes a loss and computes none: write `{edit.text}`", edit)
