"""`subset.dataset` is the whole dataset: a loader over it trains on the validation data too.

`random_split` and `Subset` hand out windows onto one dataset, and `.dataset` is that one dataset, uncut. A loader built
on `train_set.dataset` therefore runs over everything, the held-out part included, and the validation score is measured
on data the model has seen.

Give the loader the subset itself, `DataLoader(train_set, shuffle=True)`. For the count use `len(train_set)`;
`len(train_set.dataset)` is the whole.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/ratschlab/aestetik/issues/8",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"
WORDS = ("DataLoader|random_split", "dataset")


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["seen_of_validation"] == 20
    assert good["seen_of_validation"] == 0
    assert (bad["samples"], good["samples"]) == (100, 80)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.data.DataLoader"):
        given = tree.argument(call, 0, "dataset")
        if isinstance(given, ast.Attribute) and given.attr == "dataset" and _is_subset(source, given.value):
            code = source.code(given.value)
            yield source.hit(
                given,
                f"`{source.code(given)}` is the whole dataset behind the split, the held-out part included: pass `{code}`",
                edits.replace(source, given, code),
            )

    yield from _both_given_back(source)


def _both_given_back(source: Source) -> Iterator[Hit]:
    """`return train.dataset, val.dataset` of the two parts of one split: the same set twice."""
    for split in source.calls("torch.utils.data.random_split"):
        held = source.parents[split]
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        parts = [tree.dotted(one) for one in target.elts] if isinstance(target, ast.Tuple) else []
        home = tree.function(source, split)
        for given in tree.under(source, home, ast.Return) if home is not None and len(parts) > 1 else ():
            named = given.value.elts if isinstance(given.value, ast.Tuple) else []
            whole = [one for one in named if isinstance(one, ast.Attribute) and one.attr == "dataset"]
            asked = {tree.dotted(one.value) for one in whole}
            if len(asked & set(parts)) > 1:
                edit = [edits.replace(source, one, source.code(one.value)) for one in whole]
                told = f"{' and '.join(f'`{source.code(one)}`' for one in whole)} are one and the same, all of what was split"
                yield source.hit(
                    whole[0], f"{told}: give back {' and '.join(f'`{source.code(one.value)}`' for one in whole)}", *edit
                )


def _is_subset(source: Source, node: ast.expr) -> bool:
    if values.made_by(source, node, "torch.utils.data.Subset"):
        return True
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    calls = [one.value for one in found if isinstance(one.value, ast.Call) and one.path]
    return (
        bool(found)
        and len(calls) == len(found)
        and all(source.name(one.func) == "torch.utils.data.random_split" for one in calls)
    )
