"""`phase == "train"` in a loop over `["training", "validation"]` is never true.

The name of a phase is a text, and nothing says that the text compared with is one of those the loop hands out. `net.train(phase ==
"train")` then switches to evaluation in both phases: batch norm keeps its first statistics, dropout drops nothing, and the loss still
falls. Where the backward pass stands in the branch, nothing is trained at all.

Write the words once, `TRAIN, VAL = "train", "val"`, and compare with the names; or loop over the loaders and hand the mode in.
"""

import ast
from collections.abc import Iterator

from torchlore.check import follow, scopes, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["batches_seen"] == 0
    assert good["batches_seen"] == 20


WORDS = ("for", "*train*|set_grad_enabled|backward")


def find(source: Source) -> Iterator[Hit]:
    for test in [one for one in source.all(ast.Compare) if one.ops[0].__class__ is ast.Eq and len(one.ops) == 1]:
        if not _is_word(test) or not _switches(source, test):
            continue
        for name, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            word = tree.literal(other)
            known = _handed_out(source, name) if isinstance(name, ast.Name) and isinstance(word, str) else []
            if known and word not in known and isinstance(name, ast.Name):
                listed = ", ".join(f'"{one}"' for one in known)
                yield source.hit(
                    test, f'`{name.id}` is one of {listed}, so this is never true: write one of them for "{word}"'
                )


def _is_word(test: ast.Compare) -> bool:
    """`phase == "train"`: a name and a text."""
    sides = (test.left, test.comparators[0])
    return any(one.__class__ is ast.Name for one in sides) and any(isinstance(tree.literal(one), str) for one in sides)


def _switches(source: Source, test: ast.Compare) -> bool:
    """Whether the mode or the training hangs on it: `net.train(...)`, `set_grad_enabled(...)`, `if ...: loss.backward()`."""
    up = source.parents[test]
    if isinstance(up, ast.Call):
        return follow.method(up) == "train" or source.name(up.func) == "torch.set_grad_enabled"
    if isinstance(up, ast.IfExp) and up.test is test:
        return follow.method(up.body) == "train"
    if isinstance(up, ast.Assign):
        return "train" in tree.dotted(up.targets[0]).lower()
    body = up.body if isinstance(up, ast.If) and up.test is test else ()
    return any(
        follow.method(one) in ("train", "backward") for part in body for one in tree.under(source, part, ast.Call)
    )


def _handed_out(source: Source, name: ast.Name) -> list[str]:
    """The texts that a loop over a list, or over the keys of a dictionary, gives to a name."""
    bound = scopes.reaching(source, name)
    over = bound[0].value if len(bound) == 1 and bound[0].how == "for" else None
    if isinstance(over, ast.Call) and follow.method(over) in ("items", "keys") and bound[0].path in ((), (0,)):
        held = follow.followed(source, tree.receiver(over))
        texts = [tree.literal(one) for one in held.keys if one is not None] if isinstance(held, ast.Dict) else []
    else:
        given = follow.followed(source, over) if over is not None and not bound[0].path else None
        texts = [tree.literal(one) for one in given.elts] if isinstance(given, ast.List | ast.Tuple) else []
    return [one for one in texts if isinstance(one, str)] if all(isinstance(one, str) for one in texts) else []
