"""`clip_grad_norm_` lets NaN and inf through, and one bad value spoils the whole gradient.

Clipping divides by the total norm. If one gradient is NaN, the norm is NaN and every gradient becomes NaN; if one is
inf, the others become 0 and it becomes NaN. The call returns as if all were well, and the next step writes NaN into the
weights. Clipping also does nothing outside the place between `backward` and `step`, on an exhausted generator, and, with
a scaler, before `unscale_`.

```python
loss.backward()
norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=20, error_if_nonfinite=True)
optimizer.step()
```

Log the returned norm: it is the norm before clipping, and the cheapest sign of trouble there is.
"""

ROWS = ("train-clip",)
SOURCES = ("003:480-483",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    from torchlore.recipes.optim import clip_norm

    clip = nn.utils.clip_grad_norm_
    weights = [nn.Parameter(torch.zeros(3, device=device)) for _ in range(2)]

    def set_gradients(first: float) -> None:
        for weight, value in zip(weights, (first, 100.0), strict=True):
            weight.grad = torch.full((3,), value, device=device)

    def norm() -> float:
        return float(torch.cat([w.grad for w in weights if w.grad is not None]).norm())

    set_gradients(100.0)
    assert round(float(clip(weights, 20.0)), 2) == 244.95  # what it returns is the norm before
    assert abs(norm() - 20.0) < 1e-3

    set_gradients(float("nan"))
    clip(weights, 20.0)
    assert all(bool(w.grad.isnan().all()) for w in weights if w.grad is not None)
    set_gradients(float("inf"))
    clip(weights, 20.0)
    first, second = (w.grad for w in weights)
    assert first is not None
    assert bool(first.isnan().all())
    assert second is not None
    assert bool((second == 0).all())

    set_gradients(float("inf"))
    try:
        clip(weights, 20.0, error_if_nonfinite=True)
    except RuntimeError:
        pass
    else:
        raise AssertionError("an infinite norm was accepted")
    assert clip_norm(weights, 20.0, nonfinite="drop").isinf()
    assert [weight.grad for weight in weights] == [None, None]  # the step changes nothing

    optimizer = torch.optim.SGD(weights, lr=1.0)
    set_gradients(100.0)
    optimizer.step()
    clip(weights, 20.0)  # too late
    assert weights[0].tolist() == [-100.0] * 3
