"""The rule of module-train-overridden."""

import ast
from collections.abc import Iterator

from torchlore.check import classes, tree
from torchlore.check.calls import callers
from torchlore.check.project import Class, as_function, enclosing_class
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

_MODES = {"mode", "training", "is_training", "is_train", "train", "flag", "train_mode"}
WORDS = ("train|eval",)


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        found = {name: node for name, node in classes.methods(cls).items() if name in ("train", "eval")}
        if not found or not classes.is_module(cls):
            continue
        yield from _forgets_mode(source, found.get("train"))
        for name, node in found.items():
            if (not _switches(node) or _ignores_mode(node, found)) and not _switched_off(node):
                better = "fit" if name == "train" else "evaluate"
                message = f"`{cls.node.name}.{name}` replaces the method that switches the mode: call it `{better}`"
                asked = _asked(source, cls)
                if asked is None and cls.node.name.endswith(("Trainer", "Runner", "Learner")):
                    asked = False  # it trains, and is not switched
                # of what cannot be told it may be a part that is switched
                yield source.hit(node, message, severity=None if asked else "warning" if asked is None else "hint")


def _forgets_mode(source: Source, train: FunctionNode | None) -> Iterator[Hit]:
    """`def train(self, mode=True): super().train()`: eval() comes through here with False, and nobody hears it."""
    given = [arg.arg for arg in tree.parameters(train)][1:2] if train is not None else []
    for call in tree.under(source, train, ast.Call) if train is not None and given else ():
        up = (
            isinstance(call.func, ast.Attribute) and call.func.attr == "train" and isinstance(call.func.value, ast.Call)
        )
        if up and source.code(call.func.value).startswith("super(") and not call.args and not call.keywords:  # type: ignore[attr-defined]  # see above
            asked = any(given[0] in source.code(test) for test, _ in tree.conditions(source, call))
            if not asked:
                told = f"`eval()` calls this with `{given[0]}=False`, and this switches to train mode all the same"
                yield source.hit(call, f"{told}: write `super().train({given[0]})`")


def _asked(source: Source, cls: Class) -> bool | None:
    """Whether somebody calls `eval()` on one of these, or None where it may be: not on its parts, nor in a function that nobody calls."""
    known: bool | None = False
    for call in (one for one in source.methods("eval") if not one.args and not one.keywords):
        owner, home, name = enclosing_class(source, call), tree.function(source, call), tree.dotted(tree.receiver(call))
        part = name != "self" and owner is not None and _related(cls, owner)
        given = home is not None and name in {arg.arg for arg in tree.parameters(home)}
        idle = given and home is not None and not callers(as_function(source, home))
        made = {one.name for one in source.values(tree.receiver(call))}
        if not part and not idle and (cls.qualified in made or (name == "self" and owner is not None)):
            return True
        known = None if not part and not idle and (not made or "" in made) else known
    return known


def _related(one: Class, other: Class) -> bool:
    """Whether one of the two classes comes from the other."""
    families = (one.source.project.bases(cls)[0] for cls in (one, other))
    return any(cls.node is end.node for family, end in zip(families, (other, one), strict=True) for cls in family)


def _switched_off(node: FunctionNode) -> bool:
    """`def train(self, mode=True): return self`: the author wants no mode."""
    plain = (ast.Pass, ast.Return, ast.Expr)
    return all(
        isinstance(one, plain) and not any(isinstance(part, ast.Call) for part in ast.walk(one)) for one in node.body
    )


def _ignores_mode(node: FunctionNode, found: dict[str, FunctionNode]) -> bool:
    """`def train(self, mode=True): self.stem.eval()`: nothing hears of the mode, neither by `super()` nor by a part."""
    given = [arg.arg for arg in tree.parameters(node)][1:2]
    read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    sets = any(isinstance(one, ast.Attribute) and one.attr == "training" for one in ast.walk(node))
    return node.name == "train" and "eval" not in found and bool(given) and not read & {*given, "super"} and not sets


def _switches(node: FunctionNode) -> bool:
    """Whether the override still does its job: it hands the mode on to the mother or to the parts."""
    inside = list(ast.walk(node))
    mother = any(isinstance(one, ast.Name) and one.id == "super" for one in inside)
    sets = any(
        isinstance(one, ast.Attribute) and one.attr == "training" and isinstance(one.ctx, ast.Store) for one in inside
    )
    parts = any(isinstance(one, ast.Attribute) and one.attr in ("train", "eval") for one in inside)
    given = [arg.arg for arg in tree.parameters(node)][1:]
    return mother or sets or (parts and (not given or given[0] in _MODES))
