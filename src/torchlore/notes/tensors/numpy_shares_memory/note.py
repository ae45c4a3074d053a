"""tensor.numpy() needs a CPU tensor outside the graph, and then shares its memory.

`.cpu().numpy()` raises on a tensor that requires grad; `.numpy()` raises on one that is not on the CPU, and on
bfloat16, which NumPy does not know. What you get is no copy: writing into the array writes into the tensor. `.data`
is the old way out of the graph; it hides later in-place changes from autograd, so leave it.

`t.numpy(force=True)` does detach, move and resolve in one call, and still shares memory where it can. The recipe
`torchlore.recipes.tensors.to_numpy(t)` takes bfloat16 too. For a copy add `.copy()`.
"""

ROWS = ("tensor-to-numpy",)
SOURCES = ("003:80-83", "001:27")
TORCH = "2.11, 2.15"
NEEDS = ("numpy",)


def claim(device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.tensors import to_numpy

    weight = torch.ones(3, requires_grad=True, device=device)
    assert error_of(lambda: weight.cpu().numpy()) == "RuntimeError"
    assert error_of(lambda: torch.ones(3, device="meta").numpy()) == "TypeError"
    assert error_of(lambda: torch.ones(3, dtype=torch.bfloat16).numpy()) == "TypeError"
    assert weight.numpy(force=True).tolist() == [1, 1, 1]
    assert to_numpy(weight.bfloat16() * 2).tolist() == [2, 2, 2]

    held = torch.zeros(3)
    held.numpy(force=True)[0] = 7
    assert held[0] == 7  # no copy was made
    held.detach().cpu().numpy().copy()[1] = 7
    assert held[1] == 0
