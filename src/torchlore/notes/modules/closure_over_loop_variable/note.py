"""A function made in a loop looks its variable up when it is called: all of them see the last value.

A lambda, or a function defined in the loop, keeps the name and not the value. Every hook that `for name in layers` registers as
`lambda m, i, o: features.update({name: o})` writes under the last name, so that one entry is left, the last layer to run, and a
head built on "all" features gets that one alone. A list of schedules `[lambda e: rate**e for rate in rates]` decays all groups alike.

Bind the value while the function is made: by a default, by `functools.partial`, or by a function that returns the hook.

```python
for name in layers:
    getattr(model, name).register_forward_hook(lambda m, i, o, name=name: features.update({name: o.detach()}))
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/optuna/optuna-integration/pull/278",
    "https://github.com/pytorch/pytorch/pull/62726",
    "https://docs.python.org/3/faq/programming.html#why-do-lambdas-defined-in-a-loop-with-different-values-all-return-the-same-result",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["features"] == 1
    assert good["features"] == 3
