"""The rule of split-drawn-anew."""

import re
from collections.abc import Iterator

from torchlore.check import flow, follow, tree
from torchlore.check.source import Hit, Source

WORDS = ("random_split|train_test_split", "torch")
_RESUMES = re.compile(r"\bresum|(start|begin|initial)_epoch\b|=\s*(int\()?\w+\[[\"'](epoch|step|iter)\w*[\"']\]")
_SPLITS = {"torch.utils.data.random_split": "generator", "sklearn.model_selection.train_test_split": "random_state"}


def find(source: Source) -> Iterator[Hit]:
    yield from _each_epoch(source)
    goes_on = any(source.calls("torch.load")) and _RESUMES.search(source.text)
    if not goes_on or not flow.may_train(source) or _is_seeded(source):
        return
    for name, option in _SPLITS.items():
        for call in source.calls(name):
            if tree.lacks(call, 2 if option == "generator" else None, option) and not follow.in_test(source, call):
                told = "each start draws another split, so a resumed run validates on what the first one trained on"
                write = "generator=torch.Generator().manual_seed(0)" if option == "generator" else "random_state=0"
                yield source.hit(call, f"{told}: give it `{write}`")


def _each_epoch(source: Source) -> Iterator[Hit]:
    """`for epoch in range(n): train, val = random_split(data, [0.8, 0.2])`, with one model for all of them."""
    for loop in flow.backward_loops(source):
        if loop.of("model", "optimizer", "load"):
            continue  # another fold, another network
        for call in source.calls("torch.utils.data.random_split"):
            inside = tree.loops(source, call)[:1] == [loop.node] and tree.lacks(call, 2, "generator")
            if inside and not tree.conditions(source, call):
                told = "each epoch draws another split, so after a few of them all that is held out was trained on"
                yield source.hit(call, f"{told}: split once, above the loop")


def _is_seeded(source: Source) -> bool:
    """Whether this file, or one that runs it or that it runs, speaks of a seed."""
    project = source.project
    texts = (project.text(path) or "" for path in project.importers(source.module))
    return any(re.search(r"seed", text, re.IGNORECASE) for text in (source.text, *texts))
