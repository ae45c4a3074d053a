"""The rule of requires-grad-on-module."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, tree, uses, values
from torchlore.check.source import Hit, Source

_WRITTEN = re.compile(r"^requires?_?grad(s|ient)?$")


def find(source: Source) -> Iterator[Hit]:
    for assign in source.all(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Attribute) and _WRITTEN.match(target.attr):
                whole = target.attr == "requires_grad"
                yield from _on_module(source, assign, target) if whole else _misspelt(source, assign, target)


def _on_module(source: Source, assign: ast.Assign, target: ast.Attribute) -> Iterator[Hit]:
    owner, value = source.code(target.value), source.code(assign.value)
    told = tree.literal(assign.value) in (True, False) and owner != "self"
    if told and values.sure(source, target.value, "module") and not _one_by_one(source, assign, owner):
        edit = edits.replace(source, assign, f"{owner}.requires_grad_({value})")
        message = f"`{owner}` is a module, so this changes none of its parameters: write `{edit.text}`"
        yield source.hit(assign, message, *([edit] if len(assign.targets) == 1 else []))


def _one_by_one(source: Source, assign: ast.Assign, owner: str) -> bool:
    """Whether the function goes over the parameters of the same module as well, and sets each."""
    home = tree.function(source, assign)
    same = (one for one in source.methods("parameters", "named_parameters") if tree.function(source, one) is home)
    around = [source.parents[one] for one in same if source.code(tree.receiver(one)) == owner]
    sets = (part for one in around if isinstance(one, ast.For) for part in tree.under(source, one, ast.Attribute))
    return any(part.attr in ("requires_grad", "requires_grad_") for part in sets)


def _misspelt(source: Source, assign: ast.Assign, target: ast.Attribute) -> Iterator[Hit]:
    if _read(source, target) or not values.sure(source, target.value, "tensor", "module"):
        return  # an option of the class, by a like name
    owner, value = source.code(target.value), source.code(assign.value)
    fixed = f"{owner}.requires_grad_({value})"
    message = f"`{target.attr}` is a new attribute that nobody reads: write `{fixed}`"
    harmless = value == "False" and not values.sure(source, target.value, "parameter", "module")
    edit = edits.replace(source, assign, fixed)
    yield source.hit(assign, message, edit, severity="hint" if harmless else "error")


def _read(source: Source, target: ast.Attribute) -> bool:
    """Whether somebody reads `self.require_grad` in the file."""
    same = (one for one in uses.attributes(source, target.attr) if isinstance(one.ctx, ast.Load))
    return tree.dotted(target.value) == "self" and any(tree.dotted(one.value) == "self" for one in same)
