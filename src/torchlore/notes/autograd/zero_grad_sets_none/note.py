"""`zero_grad()` sets gradients to None, not to zero, and only those of its own parameters.

Weights are never touched. Since torch 2.0 the default is `set_to_none=True`. That is no detail: an optimizer skips a
parameter whose gradient is `None`, but with a gradient of zeros it still applies momentum and weight decay. Code that
reads `p.grad.norm()` after `zero_grad()` meets `None`; write `if p.grad is not None`.

`optimizer.zero_grad()` clears what that optimizer holds. A part of the model that it does not hold keeps adding up its
gradient, and shows it in `clip_grad_norm_(model.parameters(), ...)`. Either freeze that part with
`part.requires_grad_(False)` or clear the whole model:

```python
model.zero_grad()  # every parameter of the model, whoever steps it
```
"""

ROWS = ("autograd-zero-grad",)
SOURCES = ("001:12", "003:666")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    def moved(set_to_none: bool) -> bool:
        weight = nn.Parameter(torch.ones(3, device=device))
        optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
        weight.sum().backward()
        optimizer.step()
        before = weight.detach().clone()
        optimizer.zero_grad(set_to_none=set_to_none)
        assert torch.equal(weight, before)  # weights are untouched
        assert (weight.grad is None) == set_to_none
        optimizer.step()
        return not torch.equal(weight, before)

    assert not moved(set_to_none=True)
    assert moved(set_to_none=False)  # momentum goes on

    body, head = nn.Linear(3, 3, device=device), nn.Linear(3, 1, device=device)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    norms = []
    for _ in range(3):
        optimizer.zero_grad()
        head(body(torch.ones(2, 3, device=device))).sum().backward()
        assert body.bias.grad is not None
        norms.append(float(body.bias.grad.norm()))
    assert norms[0] < norms[1] < norms[2]
    nn.Sequential(body, head).zero_grad()
    assert body.bias.grad is None
