"""The rule of eval-does-not-freeze."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, follow, project, tensors, trained, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FREEZES = regex(r"(?<!un)(?:freeze|frozen|fix_)", re.IGNORECASE)
_OF_MODE = regex(r"bn|norm|stat|drop|mode", re.IGNORECASE)
WORDS = ("eval", "*freeze*|*frozen*|*fix_*")


def find(source: Source) -> Iterator[Hit]:
    for call in source.methods("eval") if not _is_set(source) else ():
        part = tree.receiver(call)
        if not isinstance(part, ast.Attribute) or tree.dotted(part.value) != "self":
            continue
        said = _said(source, call)
        if not said or tree.loops(source, call) or _OF_MODE.search(said + part.attr):
            continue
        cls = project.enclosing_class(source, call)
        if cls is None or not classes.is_module(cls):
            continue
        runs = trained.calls_of(source, cls, part.attr)
        if runs and not any(_cut(source, one) for one in runs) and trained.given_whole(source, cls):
            told = f"`eval()` freezes no weight, and the optimizer gets those of `self.{part.attr}`: call `self.{part.attr}.requires_grad_(False)` too"
            yield source.hit(call, told)


def _is_set(source: Source) -> bool:
    """Whether somebody stops gradients or rates by name; to ask `if p.requires_grad` stops none."""
    written = (one for one in uses.attributes(source, "requires_grad") if isinstance(one.ctx, ast.Store))
    return any(source.methods("requires_grad_")) or any(written) or "param_group" in source.text


def _said(source: Source, call: ast.Call) -> str:
    """The word that says what it is for: a flag that is asked, `if self.freeze_backbone`, or the method's name."""
    tests = [test for test, branch in tree.conditions(source, call) if branch]
    flags = [tree.dotted(test).rpartition(".")[2] for test in tests]
    home = tree.function(source, call)
    words = [*flags, home.name if home is not None and not tests else ""]
    word = next((one for one in words if _FREEZES.search(one)), "")
    alone = all(_is_eval(one) for one in home.body) if home is not None and not tests else True
    return word if alone else ""


def _is_eval(statement: ast.stmt) -> bool:
    """A method that does nothing but switch modes."""
    text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    back = isinstance(statement, ast.Return)
    return text or back or (isinstance(statement, ast.Expr) and follow.method(statement.value) == "eval")


def _cut(source: Source, run: ast.Call) -> bool:
    """`with torch.no_grad(): h = self.backbone(x)`, `self.backbone(x).detach()`, and a name that is detached later."""
    up = source.parents[run]
    if tensors.no_grad_around(source, run) or (isinstance(up, ast.Attribute) and up.attr in ("detach", "data")):
        return True
    name = up.targets[0] if isinstance(up, ast.Assign) else None
    reads = uses.names(source, name.id) if isinstance(name, ast.Name) else []
    return any(isinstance(over := source.parents[one], ast.Attribute) and over.attr == "detach" for one in reads)
