"""The rule of same-data-on-every-rank."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, frameworks, tree, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_WRAPPER = "torch.nn.parallel.DistributedDataParallel"
_DIVIDED = regex(
    r"Sampler\(|sampler\s*=|split_\w*by_node|\.shard\(|sharded|num_replicas|[/%:*]\s*\w*world|deepspeed|webdataset|Iterable|dali|ffcv|rank\s*::|\+\s*\w*rank", re.IGNORECASE
)  # fmt: skip
_RANK = regex(r"\brank|_rank\b")

WORDS = ("DistributedDataParallel", "DataLoader")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.calls(_WRAPPER)) or frameworks.frameworks(source):
        return
    for call in source.calls("torch.utils.data.DataLoader"):
        mixed = tree.literal(tree.argument(call, 2, "shuffle")) is True
        plain = tree.lacks(call, 3, "sampler") and tree.lacks(call, 4, "batch_sampler")
        if mixed and plain and not tree.spread(call) and not _divided(source, call):
            told = "every process goes over all of the data here, with one seed in the same order: give it `sampler=DistributedSampler(...)` instead of `shuffle=True`"
            yield source.hit(call, told, severity="warning")


def _divided(source: Source, call: ast.Call) -> bool:
    """Whether the file divides the data in some way, or this loader is made where there is one process or none of DDP's."""
    tests = [source.code(test) for test, _ in tree.conditions(source, call)]
    if _DIVIDED.search(source.text) or any(_RANK.search(test) or "distributed" in test for test in tests):
        return True
    data = tree.argument(call, 0, "dataset")
    made = follow.followed(source, data) if data is not None else call
    return bool(_RANK.search(source.code(made))) or not _fed(source, call)


def _fed(source: Source, call: ast.Call) -> bool:
    """Whether a wrapped net is run in a loop over this loader."""
    for loop in source.all(ast.For):
        over = any(one.node is call for one in source.values(_walked(loop.iter)))
        inside = (one for one in tree.under(source, loop, ast.Call)) if over else iter(())
        if any(values.made_by(source, one.func, _WRAPPER) is not None for one in inside):
            return True
    return False


def _walked(node: ast.expr) -> ast.expr:
    """The loader under `enumerate` or `tqdm`."""
    while isinstance(node, ast.Call) and node.args and follow.method(node) != "items":
        node = node.args[0]
    return node
