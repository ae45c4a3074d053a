"""A ladder of `if epoch < n` needs an else, or the last rung leaves no learning rate.

The warm-up of BFE-net, as copied around: `1e-4 * (epoch // 5 + 1)` up to epoch 50, then 1e-3, then 1e-4 up to 300. It
reaches 1e-3 at epoch 45, not at 50, and at epoch 300 no branch assigns `lr`: an UnboundLocalError after days of
training, or, where the rate is written into `param_groups` inside the branches, silence and the old rate. That warm-up
raises accuracy is one thread's word; a second warm-up in the same notes starts at 0 instead of at a tenth.

Say the rate as a function that covers every epoch, and let a scheduler apply it, so that it is saved and resumed:

```python
scheduler = LambdaLR(optimizer, lambda e: min(e // 5 + 1, 10) / 10 * (0.1 if e >= 200 else 1.0))  # of lr=1e-3
```

`torchlore.recipes.schedules` has `Warmup(MultiStep((200,), 0.1), 50)` as a plain function of the epoch.
"""

ROWS = ("schedule-bfe",)
SOURCES = ("000:32-40", "002:90-109")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch.optim.lr_scheduler import LambdaLR

    assert bad["error"] == "UnboundLocalError"
    assert good["error"] == ""
    assert good["last"] == 1e-4

    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1e-3)
    scheduler = LambdaLR(optimizer, lambda e: min(e // 5 + 1, 10) / 10 * (0.1 if e >= 200 else 1.0))
    rates = []
    for _ in range(320):
        rates.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    ladder = [1e-4 * (e // 5 + 1) if e < 50 else 1e-3 if e < 200 else 1e-4 for e in range(320)]
    assert max(abs(a - b) for a, b in zip(rates, ladder, strict=True)) < 1e-9
    assert rates[44] < 9.5e-4 < rates[45]  # the target is reached at 45
