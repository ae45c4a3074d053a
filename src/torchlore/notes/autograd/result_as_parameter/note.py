"""`torch.rand(n, requires_grad=True) * 0.1` is a result, not a leaf: it never gets a gradient.

Only leaves collect a gradient in `.grad`: tensors you made, not ones that an operation made from them. Scaling, `.to()`,
`.cuda()` or `.double()` after `requires_grad=True` gives a result whose `.grad` stays `None`; an optimizer refuses it. A
`.to(device)` is the meanest form: on the CPU it returns the same tensor and all works, on the GPU it is a copy and
nothing is learned.

Finish the tensor first, then ask for its gradient:

```python
w = (torch.rand(n) * 0.1).to(device).requires_grad_()
delta = torch.zeros(shape, device=device, requires_grad=True)
```

`grad_fn` tells the two apart only if gradients are on: a result of tensors that need no gradient has `grad_fn` None and
counts as a leaf. A network's output requires a gradient because its parameters do, not because of the input.
"""

ROWS = ("autograd-leaf",)
SOURCES = ("001:76",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["success"] < 0.1
    assert good["success"] > 0.5

    plain = torch.ones(2) * 3
    assert plain.is_leaf
    assert plain.grad_fn is None
    made = torch.ones(2, requires_grad=True) * 3
    assert not made.is_leaf
    assert torch.ones(2, requires_grad=True).to("cpu").is_leaf  # same device: the same tensor
    try:
        torch.optim.SGD([made], lr=0.1)
    except ValueError:
        pass
    else:
        raise AssertionError("the optimizer took a result")
    layer = nn.Linear(2, 1)
    assert layer(plain).requires_grad
    assert not layer.requires_grad_(False)(plain).requires_grad
