"""Assignment copies nothing; clone copies and stays in the graph; detach leaves it and copies nothing.

| | memory | in the graph |
| --- | --- | --- |
| `b = a` | the same | the same tensor |
| `a.clone()` | new | yes |
| `a.detach()` | shared | no |
| `a.detach().clone()` | new | no |
| `a + 0` | new | yes: a detour for `clone()` |

After `b = a` every in-place change of one (`b += 1`, `b[0] = 5`, `b.resize_`) is a change of the other; `b = b + 1`
only binds the name anew. A "copy" by `a + 0` keeps the whole history of `a` alive. Writing into the shared memory of
`a.detach()` is caught when backward needs the old values; writing through `a.data` is not, and gives a wrong gradient.

Keep values with `a.detach().clone()`, which is `torchlore.recipes.tensors.copy_of(a)`. To remember the best weights use `copy.deepcopy(model.state_dict())`: the
dictionary itself holds the live tensors.
"""

ROWS = ("tensor-copy-table", "tensor-alias")
SOURCES = ("003:121-127", "001:78")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.tensors import copy_of, shares_memory

    a = torch.ones(3, device=device, requires_grad=True) * 1
    for copy, new, tracked in (
        (a.clone(), True, True),
        (a.detach(), False, False),
        (a.detach().clone(), True, False),
        (copy_of(a), True, False),
        (a + 0, True, True),
    ):
        assert shares_memory(copy, a) is not new
        assert copy.requires_grad is tracked

    b = c = torch.zeros(2, device=device)
    b += 1
    assert c.tolist() == [1, 1]  # in place: seen through both names
    b = b + 1
    assert c.tolist() == [1, 1]  # rebound: not

    def slope_after(write: str) -> float:
        x = torch.ones(1, device=device, requires_grad=True)
        y = x.exp()  # its gradient needs y itself
        (y.data if write == "data" else y.detach()).zero_()
        y.sum().backward()
        assert x.grad is not None
        return x.grad.item()

    assert error_of(lambda: slope_after("detach")) == "RuntimeError"  # caught
    assert slope_after("data") == 0  # not caught, and wrong: it should be e
