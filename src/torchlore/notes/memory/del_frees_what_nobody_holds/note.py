"""del removes a name; the memory goes when nobody holds the tensor, and autograd often does.

`del hidden` after the loss is computed frees nothing if backward needs `hidden`: the graph holds the same memory. It
also frees nothing while a list, a closure, a view or an exception's traceback still points there. What it does help
with is a name that would outlive its use, such as the last batch and its output during validation: `output` from the
training loop lives on until it is bound again.

Let functions end: names inside a function die with it, so `def train_step(...)` needs no `del`. To hold less for
backward use `torch.utils.checkpoint`, and to keep a number keep `loss.item()`, not `loss`.
"""

ROWS = ("memory-del",)
SOURCES = ("003:670",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import gc
    import weakref

    import torch

    x = torch.rand(1000, device=device, requires_grad=True)
    hidden = x.exp()  # backward needs its result
    where = hidden.data_ptr()
    loss = hidden.sum()
    del hidden
    assert loss.grad_fn is not None
    node = loss.grad_fn.next_functions[0][0]
    assert node is not None
    assert node._saved_result.data_ptr() == where  # type: ignore[attr-defined]  # noqa: SLF001 - the saved tensor is the point

    def gone_after_del(kept_elsewhere: bool) -> bool:
        tensor = torch.rand(1000, device=device)
        seen, others = weakref.ref(tensor), [tensor] if kept_elsewhere else []
        del tensor
        gc.collect()
        return seen() is None and not others

    assert gone_after_del(kept_elsewhere=False)
    assert not gone_after_del(kept_elsewhere=True)
