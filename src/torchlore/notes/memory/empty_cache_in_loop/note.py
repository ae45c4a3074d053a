"""torch.cuda.empty_cache() in the training loop makes it slower and frees nothing you could use.

The memory in the cache is torch's to reuse for the next tensor without asking the driver. Emptying it waits for the
GPU, gives the memory back and asks for it again in the next step. It cannot free a tensor that something still holds,
so it cures no leak and hardly ever an out-of-memory error. It acts on its own process only: what a stuck or orphaned
process holds stays held.

Drop the references instead (a loss kept with its graph, a list of outputs), lower the batch size, and leave the cache
alone. One call between two phases is fine when another process needs the memory: after training and before an
evaluation that runs elsewhere.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import calls as calls_of
from torchlore.check import edits, flow, follow, tree, values
from torchlore.check.project import as_function
from torchlore.check.source import Hit, Source

ROWS = ("env-empty-cache",)
SOURCES = ("003:49-52", "004:110", "https://discuss.pytorch.org/t/65196")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any], device: str) -> None:
    import torch

    assert bad["loss"] == good["loss"]  # it changes nothing but the time
    if device != "cuda":
        torch.cuda.empty_cache()  # nothing to do, and no error
        return
    held = torch.ones(2**20, device=device)
    before = torch.cuda.memory_allocated()
    torch.cuda.empty_cache()
    assert torch.cuda.memory_allocated() == before  # what is held stays held
    assert held.sum().item() == 2**20

    def asked_the_driver(empty: bool) -> int:
        torch.ones(2**24, device=device)
        start = torch.cuda.memory_stats()["num_device_alloc"]
        for _ in range(5):
            torch.ones(2**24, device=device)
            if empty:
                torch.cuda.empty_cache()
        return int(torch.cuda.memory_stats()["num_device_alloc"] - start)

    assert asked_the_driver(empty=False) == 0
    assert asked_the_driver(empty=True) >= 4


WORDS = ("empty_cache",)


def find(source: Source) -> Iterator[Hit]:
    calls = [call for call in source.calls("torch.cuda.empty_cache") if tree.is_statement(source, call)]
    training = {loop.node for loop in flow.training_loops(source)} if calls else set()
    for call in calls:
        at = _in_step(source, call)
        inner = next(iter(tree.loops(source, at)), None)
        if inner is None or follow.seldom(source, at, inner):
            continue
        batches = isinstance(inner, ast.For) and values.sure(source, inner.iter, "loader", weak=True)
        if inner in training or batches:
            message = "empty_cache() in every step waits for the GPU and asks for the memory again: take it out"
            yield source.hit(call, message, edits.delete(source, call))


def _in_step(source: Source, call: ast.Call) -> ast.Call:
    """The call itself, or the one call of the function that it stands in: `self.step(batch)`."""
    home = tree.function(source, call)
    if home is None or tree.loops(source, call) or tree.conditions(source, call):
        return call
    sites = calls_of.callers(as_function(source, home))
    return sites[0][1] if len(sites) == 1 and sites[0][0] is source else call
