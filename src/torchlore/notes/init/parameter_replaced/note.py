"""`layer.weight = nn.Parameter(t)` makes a new parameter that an earlier optimizer does not know.

The optimizer holds objects, not names. After the assignment it goes on stepping the old weight, which nobody uses, and the
new one never moves. The same happens with `load_state_dict(state, assign=True)`. Two more surprises: the shape is not
checked, and the parameter shares memory with the tensor it was made from, so that training changes that one too.

Write into the weight that is there:

```python
with torch.no_grad():
    layer.weight.copy_(tensor)
```

It checks the shape, copies the values and keeps the object; so does `torchlore.recipes.init.init_from_(layer, weight=tensor)`. If a new parameter is needed, build the optimizer after it.
"""

ROWS = ("init-given-tensor",)
SOURCES = ("003:255-257",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import error_of
    from torchlore.recipes.init import init_from_

    def moved(how: str) -> bool:
        layer = nn.Linear(3, 2, device=device)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        given = torch.ones(2, 3, device=device)
        if how == "assign":
            layer.weight = nn.Parameter(given)
        elif how == "load":
            layer.load_state_dict({"weight": given, "bias": layer.bias.detach().clone()}, assign=True)
        elif how == "recipe":
            init_from_(layer, weight=given)
        else:
            with torch.no_grad():
                layer.weight.copy_(given)
        layer(torch.ones(4, 3, device=device)).sum().backward()
        optimizer.step()
        return not bool((layer.weight == 1).all())

    assert not moved("assign")
    assert not moved("load")
    assert moved("copy")
    assert moved("recipe")

    layer, given = nn.Linear(3, 2), torch.ones(2, 3)
    layer.weight = nn.Parameter(given)
    with torch.no_grad():
        layer.weight.add_(1)
    assert (given == 2).all()  # the same memory
    layer.weight = nn.Parameter(torch.ones(7, 7))  # no check
    assert error_of(lambda: layer.weight.data.copy_(torch.ones(3, 5))) == "RuntimeError"
