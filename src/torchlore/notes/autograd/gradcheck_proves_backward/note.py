"""`torch.autograd.gradcheck` compares a backward pass with finite differences.

Back-propagation worked by hand teaches the rule once; `gradcheck` proves it for your own function every time. It moves
each input a little, measures how the output changes, and compares that with what `backward` says. A custom
`autograd.Function` with a wrong factor in its `backward` trains, only worse; `gradcheck` refuses it.

```python
x = torch.randn(4, dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(my_function, (x,))
```

Use float64: in float32 the finite differences are too coarse and a right gradient fails.
"""

ROWS = ("autograd-backprop-link",)
SOURCES = ("001:14-16",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import warnings
    from typing import Any

    import torch

    class Cube(torch.autograd.Function):
        factor = 3.0

        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # type: ignore[override]  # torch types it loosely
            (x,) = ctx.saved_tensors
            slope: torch.Tensor = Cube.factor * x**2 * gradient
            return slope

    x = (torch.rand(4, dtype=torch.float64, device=device) + 1).requires_grad_()

    def passes(point: torch.Tensor) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns about float32
            return bool(torch.autograd.gradcheck(Cube.apply, (point,), raise_exception=False))

    assert passes(x)
    assert not passes(x.detach().float().requires_grad_())
    Cube.factor = 2.0
    assert not passes(x)

    # the chain rule by hand, for y = sum((w * x)^2): dy/dw = 2 * w * x^2
    w = torch.tensor([2.0, -1.0], device=device, requires_grad=True)
    data = torch.tensor([3.0, 5.0], device=device)
    ((w * data) ** 2).sum().backward()
    assert w.grad is not None
    assert torch.equal(w.grad, 2 * w.detach() * data**2)
