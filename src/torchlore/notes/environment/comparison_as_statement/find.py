"""The rule of comparison-as-statement."""

import ast
from collections.abc import Iterator

from torchlore.check import edits, follow, tree
from torchlore.check.source import Hit, Source

WORDS = ("torch",)


def find(source: Source) -> Iterator[Hit]:
    if " == " not in source.text:
        return
    for line in source.all(ast.Expr):
        test = line.value
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
            continue
        name = test.left
        settable = isinstance(name, ast.Name | ast.Attribute | ast.Subscript)
        flag = isinstance(name, ast.Attribute) and name.attr == "requires_grad"  # requires-grad-on-module tells it
        if settable and not flag and not _is_shown(source, line) and not follow.in_test(source, line):
            fixed = f"{source.code(name)} = {source.code(test.comparators[0])}"
            told = f"this compares `{source.code(name)}` and sets nothing"
            yield source.hit(line, f"{told}: write `{fixed}`", edits.replace(source, line, fixed), safe=False)


def _is_shown(source: Source, line: ast.Expr) -> bool:
    """A cell of a notebook shows what its last line gives; what may raise is tried, or expected to fail."""
    tried = any(isinstance(one, ast.Try | ast.With | ast.AsyncWith) for one in tree.ancestors(source, line))
    return tried or (source.path.endswith(".ipynb") and tree.function(source, line) is None)
