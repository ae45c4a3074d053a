"""The rule of best-score-lost-on-resume."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, frameworks, project, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_BEST = regex(r"(^|_)(best|max|min|highest|lowest)(_|$)|^best", re.IGNORECASE)
_SIGNS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
WORDS = ("load", "load_state_dict|__init__")


def find(source: Source) -> Iterator[Hit]:
    loads = list(source.calls("torch.load"))
    yield from (*_set_again(source), *_kept_by_a_trainer(source)) if loads and "torch.load(" in source.text else ()
    for load in loads if "best" in source.text or "max_acc" in source.text else ():
        held = tree.statement(source, load)
        target = held.targets[0] if isinstance(held, ast.Assign) and held.value is load else None
        home = tree.function(source, load)
        if not isinstance(target, ast.Name) or frameworks.owned(source, load):
            continue
        start = _resumes(source, home or source.tree, target)
        best = _compared(source, home, held) if start is not None else None
        if best is None and start is not None and home is not None:
            best = _compared_by_caller(source, home)
        if start is None or best is None or not _is_only_start(source, best, target):
            continue
        told = f"`{best.id}` begins anew in a resumed run, so its first epoch overwrites the best checkpoint: save it too and read it back here"
        yield source.hit(start, told)


def _resumes(source: Source, home: ast.AST, checkpoint: ast.Name) -> ast.Assign | None:
    """`start_epoch = checkpoint["epoch"] + 1`, where the optimizer is read back as well."""
    restores = [
        call
        for call in tree.under(source, home, ast.Call)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict" and call.args
    ]
    reads = [call for call in restores if checkpoint.id in source.code(call.args[0])]
    optimizer = any("optim" in source.code(call).lower() for call in reads)
    for held in tree.under(source, home, ast.Assign):
        said = f"{source.code(held.targets[0])} {source.code(held.value)}".lower()
        if optimizer and held.lineno > checkpoint.lineno and "epoch" in said and _is_key_of(held.value, checkpoint):
            around = (up for up in tree.ancestors(source, held) if isinstance(up, ast.If))
            return None if any(tree.ends(up.body) in (ast.Raise, ast.Return) for up in around) else held  # only tested
    return None


def _is_key_of(node: ast.expr, checkpoint: ast.Name) -> bool:
    return any(
        isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name) and one.value.id == checkpoint.id
        for one in ast.walk(node)
    )


def _compared(source: Source, home: ast.AST | None, held: ast.stmt) -> ast.Name | None:
    """`best` of `if acc > best:` in a loop of the same function, where the weights are saved and it is set."""
    for choice in source.all(ast.If):
        test = choice.test
        fits = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], _SIGNS)
        if (
            not fits
            or tree.function(source, choice) is not home
            or not tree.loops(source, choice)
            or choice.lineno < held.lineno
        ):
            continue
        saves = any(
            "save" in tree.dotted(call.func).lower()
            for part in choice.body
            for call in tree.under(source, part, ast.Call)
        )
        stored = {
            tree.dotted(target)
            for part in choice.body
            for one in tree.under(source, part, ast.Assign)
            for target in one.targets
        }
        for one in (test.left, *test.comparators):  # type: ignore[attr-defined]  # a comparison: asked above
            if saves and isinstance(one, ast.Name) and one.id in stored and _BEST.search(one.id):
                return one
    return None


def _compared_by_caller(source: Source, home: tree.FunctionNode) -> ast.Name | None:
    """The same, in a function that has the checkpoint read by another one."""
    for other, call, _ in calls.callers(project.as_function(source, home)):
        best = _compared(source, tree.function(source, call), tree.statement(source, call)) if other is source else None
        if best is not None:
            return best
    return None


def _is_only_start(source: Source, best: ast.Name, checkpoint: ast.Name) -> bool:
    """Whether only numbers are stored before the loop, and nothing of the checkpoint ever."""
    bound = scopes.bound(source, best.id).get(scopes.scope_of(source, best), [])
    outside = [one for one in bound if not tree.loops(source, one.statement)]
    reads = any(one.value is not None and checkpoint.id in source.code(one.value) for one in bound)
    plain = all(one.how == "assign" and one.value is not None and _is_number(source, one) for one in outside)
    return bool(outside) and plain and not reads


def _is_number(source: Source, one: scopes.Binding) -> bool:
    value = one.value
    if isinstance(value, ast.Tuple) and one.path:
        value = value.elts[one.path[0]] if 0 <= one.path[0] < len(value.elts) else value
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    infinite = isinstance(value, ast.Call) and source.name(value.func) == "float" and _is_text(value.args)
    named = value is not None and source.name(value) in ("math.inf", "numpy.inf", "torch.inf")
    return infinite or named or isinstance(tree.literal(value), int | float)


def _is_text(args: list[ast.expr]) -> bool:
    """`float("inf")`, and not `float(payload["score"])`."""
    return len(args) == 1 and isinstance(tree.literal(args[0]), str)


def _kept_by_a_trainer(source: Source) -> Iterator[Hit]:
    """`if acc > self.best_acc: self.best_acc = acc; self.save()`, in a class whose `resume` reads all but that."""
    for cls in source.all(ast.ClassDef) if "self.best" in source.text else ():
        best = {name: one for one in tree.under(source, cls, ast.If) for name in _raised(one)}
        for load in source.calls("torch.load") if best else ():
            held, home = tree.statement(source, load), tree.function(source, load)
            target = held.targets[0] if isinstance(held, ast.Assign) and held.value is load else None
            if not isinstance(target, ast.Name) or home not in cls.body or frameworks.owned(source, load):
                continue
            start = _resumes(source, home, target)
            lost = [name for name, one in best.items() if start is not None and _never_read(source, cls, name, one)]
            if start is not None and lost and _only_keys(source, home, target):
                told = f"`{lost[0]}` begins anew in a resumed run, so its first epoch overwrites the best checkpoint"
                yield source.hit(start, f"{told}: save it too and read it back here")


def _raised(choice: ast.If) -> Iterator[str]:
    """`self.best_acc` of `if acc > self.best_acc:`, where it is set anew and something is saved."""
    test = choice.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], _SIGNS):
        return
    body = [part for one in choice.body for part in ast.walk(one)]
    saves = any(isinstance(one, ast.Call) and "save" in tree.dotted(one.func).lower() for one in body)
    stored = {tree.dotted(target) for one in body if isinstance(one, ast.Assign) for target in one.targets}
    for side in (test.left, test.comparators[0]):
        name = tree.dotted(side)
        if saves and name in stored and name.startswith("self.best"):
            yield name


def _never_read(source: Source, cls: ast.ClassDef, name: str, choice: ast.If) -> bool:
    """Whether all else that is stored under the name are numbers to begin with."""
    sets = [one for one in tree.under(source, cls, ast.Assign) if name in map(tree.dotted, one.targets)]
    others = [one for one in sets if not tree.inside(source, one, choice)]
    named = any(
        isinstance(one, ast.Call) and source.name(one.func) == "setattr" for one in tree.under(source, cls, ast.Call)
    )
    return bool(others) and not named and all(_is_start(source, one.value) for one in others)


def _only_keys(source: Source, home: ast.AST | None, checkpoint: ast.Name) -> bool:
    """Whether the checkpoint is only read key by key, and nobody else is handed it."""
    uses = [one for one in tree.under(source, home, ast.Name) if one.id == checkpoint.id] if home is not None else []
    reads = [one for one in uses if isinstance(one.ctx, ast.Load)]
    return bool(reads) and all(isinstance(source.parents[one], ast.Subscript | ast.Compare) for one in reads)


def _set_again(source: Source) -> Iterator[Hit]:
    """`self.load(path)` in `__init__`, and `self.steps = 0` after it, of what `load` has read."""
    for start in source.all(ast.FunctionDef):
        cls = tree.method_class(source, start) if start.name == "__init__" else None
        for place, statement in enumerate(start.body) if cls is not None else ():
            called = [
                one.func.attr
                for one in ast.walk(statement)
                if isinstance(one, ast.Call)
                and tree.dotted(one.func).startswith("self.")
                and isinstance(one.func, ast.Attribute)
            ]
            loads = (
                [one for one in cls.body if isinstance(one, ast.FunctionDef) and one.name in called]
                if cls is not None
                else []
            )
            read = {name for one in loads for name in _read_back(source, one)}
            for later in start.body[place + 1 :] if read else ():
                name = tree.dotted(later.targets[0]) if isinstance(later, ast.Assign) else ""
                if name in read and isinstance(later, ast.Assign) and _is_start(source, later.value):
                    told = f"`{name}` was read from the checkpoint in line {statement.lineno} and begins anew here: set it before that"
                    yield source.hit(later, told)


def _read_back(source: Source, load: ast.FunctionDef) -> Iterator[str]:
    """`self.steps` of `self.steps = state["steps"]`, where `state` is a checkpoint."""
    names = {
        tree.dotted(one.targets[0])
        for one in tree.under(source, load, ast.Assign)
        if isinstance(one.value, ast.Call) and source.name(one.value.func) == "torch.load"
    }
    for one in tree.under(source, load, ast.Assign):
        value = one.value
        held = value.value if isinstance(value, ast.Subscript) else None
        if held is not None and tree.dotted(held) in names - {""} and tree.dotted(one.targets[0]).startswith("self."):
            yield tree.dotted(one.targets[0])


def _is_start(source: Source, value: ast.expr) -> bool:
    """A number, `float("inf")`, an empty list."""
    number = isinstance(tree.literal(value), int | float)
    if isinstance(value, ast.UnaryOp):
        value = value.operand
    endless = isinstance(value, ast.Call) and source.name(value.func) == "float" and _is_text(value.args)
    endless |= source.name(value) in ("math.inf", "numpy.inf", "torch.inf")
    return number or endless or (isinstance(value, ast.List | ast.Dict) and not ast.unparse(value).strip("[]{}"))
