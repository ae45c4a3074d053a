"""The rule of best-by-training-score."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

WORDS = ("if", "*train*|tr_loss|tr_acc", "*best*|deepcopy|*patience*|*min*|*max*")
_TRAIN = re.compile(r"(?<![a-z])(train(ing)?|tr)(?=_|$)")
_OTHERS = ("val", "valid", "validation", "dev", "eval")
_KEEPS = re.compile(r"\.save\(|save_\w*\(|state_dict\(\)|deepcopy\(|patience|counter|wait|no_improve")


def find(source: Source) -> Iterator[Hit]:
    for choice in source.all(ast.If):
        test = choice.test
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            continue
        for score, best in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            stored = (pair for one in choice.body if isinstance(one, ast.Assign) for pair in _pairs(one))
            kept = any(_same(name, best) and _same(value, score) for name, value in stored)
            training = _TRAIN.search(_last(score)) and not _TRAIN.search(_last(best))  # `best_train_acc` is one of two
            other = _measured(source, choice, score) if kept and training else ""
            if other and _KEEPS.search(source.code(choice)):
                told = f"`{source.code(score)}` grows better as long as the network memorises, and `{other}` is there"
                yield source.hit(test, f"{told}: choose by `{other}`")


def _pairs(one: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    """Each name and its value, of `best, epoch = score, now` too."""
    names, given = one.targets[0], one.value
    if isinstance(names, ast.Tuple) and isinstance(given, ast.Tuple) and len(names.elts) == len(given.elts):
        return list(zip(names.elts, given.elts, strict=True))
    return [(names, given)]


def _last(node: ast.expr) -> str:
    return tree.dotted(node).rpartition(".")[2]


def _same(one: ast.expr, other: ast.expr) -> bool:
    return bool(tree.dotted(one)) and tree.dotted(one) == tree.dotted(other)


def _measured(source: Source, choice: ast.If, score: ast.expr) -> str:
    """The name of the same score on the validation set, where the turn computes it before it chooses."""
    home = tree.function(source, choice) or source.tree
    if follow.in_test(source, choice):
        return ""
    bound = {one.id for one in tree.under(source, home, ast.Name) if isinstance(one.ctx, ast.Store)}
    others = (_TRAIN.sub(split, _last(score)) for split in _OTHERS)
    return next((one for one in others if one in bound), "")
