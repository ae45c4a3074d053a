"""The rule of best-never-updated."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, follow, project, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_BEST = regex(r"(^|_|\.)(best|lowest|highest|min|max|top|record|peak|least)(_|$)|best", re.IGNORECASE)
_LOWEST = regex(r"(^|_|\.)(lowest|min|least)(_|$)", re.IGNORECASE)
_HIGHEST = regex(r"(^|_|\.)(highest|max|top|peak)(_|$)", re.IGNORECASE)
_WORDS = ("best", "lowest", "highest", "record", "peak", "least", "top", "min", "max")
_SAVERS = ("save_pretrained", "save_checkpoint", "save_model")
_SIGNS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
WORDS = (
    "*best*|*patience*|break|save|save_pretrained|save_checkpoint|save_model|*state_dict*",
    "max|min|*patience*|break|save|deepcopy|save_pretrained|save_checkpoint|save_model|*clone*",
)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_too_late(source), *_in_another_method(source), *_impatient(source), *_never_enough(source))
    for choice in source.all(ast.If) if _may_keep(source) else ():
        test = _compared(source, choice.test)
        if test is None or not any(word in source.code(test) for word in _WORDS):
            continue
        if not _keeps(source, choice):
            yield from _saved_always(source, choice) if test is choice.test else ()
            continue
        for best, value in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            name = tree.dotted(best)
            if not _is_beaten(source, test, best, value):
                continue
            if not tree.loops(source, choice):
                yield from _of_class(source, test, name, value) if name.startswith("self.") else ()
            elif (always := _stored_always(source, choice, name, value)) is not None:
                yield source.hit(always, f"`{name}` is set in every turn, beaten or not: move this into the `if`")
            elif (start := _begun_anew(source, choice, best)) is not None:
                told = f"`{name}` begins anew in every turn, so every turn beats it: move this line above the loop"
                yield source.hit(start, told)
            elif _is_only_start(source, best, name):
                yield source.hit(test, _first_value(source, test, best, value))


def _first_value(source: Source, test: ast.Compare, best: ast.expr, value: ast.expr) -> str:
    """What a best that keeps its first value does: every turn beats it, or none where it starts at the wrong end."""
    name, code = tree.dotted(best), source.code(value)
    bound = scopes.reaching(source, best) if isinstance(best, ast.Name) else []
    starts = {source.code(one.value).replace(" ", "") for one in bound if one.value is not None}
    smaller = isinstance(test.ops[0], ast.Lt | ast.LtE) is (best is not test.left)  # than the best
    if smaller and any(re.search(r"^-|['\"]-inf", one) for one in starts) and "inf" in "".join(starts):
        return f"`{name}` starts at minus infinity, and `{code}` never gets below: start at infinity, and write `{name} = {code}` below"
    return f"`{name}` keeps its first value, so every turn beats it: write `{name} = {code}` below"


def _is_beaten(source: Source, test: ast.Compare, best: ast.expr, value: ast.expr) -> bool:
    """Whether a name says that it holds the best so far, and not a limit: `BEST`, `gain > min_gain`, `epoch > record_from`."""
    name = tree.dotted(best)
    if not _BEST.search(name) or _BEST.search(tree.dotted(value)) or name.isupper():
        return False
    smaller = isinstance(test.ops[0], ast.Lt | ast.LtE) is (best is not test.left)  # than the best
    if (_HIGHEST if smaller else _LOWEST).search(name) and "best" not in name.lower():
        return False
    bound = scopes.reaching(source, value) if isinstance(value, ast.Name) else []
    return not bound or not all(_counts(source, one) for one in bound)


def _counts(source: Source, one: scopes.Binding) -> bool:
    """Whether this is the number of the turn: `for epoch in range(n)`, `for i, batch in enumerate(loader)`."""
    over = one.statement.iter if one.how == "for" and isinstance(one.statement, ast.For) else None
    name = source.name(over.func) if isinstance(over, ast.Call) else ""
    return name in ("range", "tqdm.trange") or (name == "enumerate" and one.path == (0,))


def _compared(source: Source, test: ast.expr) -> ast.Compare | None:
    """`loss < best` of an `if`: as it stands, under a name, or beside another condition."""
    named = isinstance(test, ast.Name) and any(
        tree.dotted(one.targets[0]) == test.id
        for kind in (ast.Compare, ast.BoolOp)
        for one in uses.assigns(source, ast.Name, kind)
    )
    one = follow.followed(source, test) if named else test
    parts = one.values if isinstance(one, ast.BoolOp) and isinstance(one.op, ast.And) else [one]
    found = [part for part in parts if isinstance(part, ast.Compare) and isinstance(part.ops[0], _SIGNS)]
    if len(found) > 1:  # `epoch > 5 and loss < best`
        found = [
            part for part in found if any(_BEST.search(tree.dotted(side)) for side in (part.left, *part.comparators))
        ]
    return found[0] if len(found) == 1 and len(found[0].ops) == 1 else None


def _of_class(source: Source, test: ast.Compare, name: str, value: ast.expr) -> Iterator[Hit]:
    """`if loss < self.best: torch.save(...)` in a method that is called once an epoch."""
    home = tree.function(source, test)
    method = home is not None and home.name != "__init__" and tree.class_of(source, home) is not None
    best = next((one for one in (test.left, test.comparators[0]) if tree.dotted(one) == name), test.left)
    if method and _is_only_start(source, best, name):
        told = f"`{name}` keeps its first value, so every call beats it: write `{name} = {source.code(value)}` below"
        yield source.hit(test, told)


def _begun_anew(source: Source, choice: ast.If, best: ast.expr) -> ast.stmt | None:
    """`best = float("inf")` further up in the very turn that asks `if loss < best`."""
    if not isinstance(best, ast.Name):
        return None
    bound = scopes.reaching(source, best)
    start = bound[0].statement if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
    if not isinstance(start, ast.Assign) or tree.loops(source, start)[:1] != tree.loops(source, choice)[:1]:
        return None
    infinite = "inf" in source.code(start.value) and not any(
        scopes.reaching(source, one)
        for one in ast.walk(start.value)
        if isinstance(one, ast.Name) and not source.name(one)
    )  # `np.min(seen) if seen else np.inf` is made of what was seen
    constant = isinstance(tree.literal(start.value), int | float) or infinite
    return start if constant and not tree.conditions(source, start) else None


def _never_enough(source: Source) -> Iterator[Hit]:
    """`wait = 0` at the top of the loop that adds one to it and asks for five."""
    for loop in source.all(ast.For):
        starts = {tree.dotted(one.targets[0]): one for one in loop.body if isinstance(one, ast.Assign) and tree.literal(one.value) == 0}  # fmt: skip
        for test in tree.under(source, loop, ast.Compare) if starts else ():
            name, most = tree.dotted(test.left), tree.literal(test.comparators[0])
            begun = starts.get(name)
            wanted = isinstance(test.ops[0], ast.Gt | ast.GtE) and (
                most is tree.UNKNOWN or (isinstance(most, int) and most > 1)
            )
            if begun is None or not wanted or begun.lineno > test.lineno or not _leaves(source, test):
                continue
            grown = [one for one in tree.under(source, loop, ast.AugAssign) if tree.dotted(one.target) == name]
            once = len(grown) == 1 and tree.literal(grown[0].value) == 1 and tree.loops(source, grown[0])[:1] == [loop]
            if once and tree.loops(source, test)[:1] == [loop]:
                limit = source.code(test.comparators[0])
                told = (
                    f"`{name}` begins anew in every turn, so it never gets to `{limit}`: move this line above the loop"
                )
                yield source.hit(begun, told, severity="warning")


def _leaves(source: Source, test: ast.Compare) -> bool:
    """Whether the comparison decides that the loop ends."""
    choice = tree.statement(source, test)
    return isinstance(choice, ast.If) and any(isinstance(one, ast.Break | ast.Return) for one in choice.body)


def _impatient(source: Source) -> Iterator[Hit]:
    """`if loss < best: best = loss` beside `else: waited += 1`, or the other way round, where nothing ever sets the count back."""
    choices = [one for one in source.all(ast.If) if isinstance(one.test, ast.Compare | ast.BoolOp)]
    halves = [half for one in choices for half in ((one.body, one.orelse), (one.orelse, one.body))]
    for better, worse in halves if "patience" in source.text else ():
        stored = [one for one in better if isinstance(one, ast.Assign) and _BEST.search(tree.dotted(one.targets[0]))]
        grown = [one for one in worse if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add)]
        if not stored:
            continue
        for one in grown:
            name = tree.dotted(one.target)
            home = tree.class_of(source, one) if name.startswith("self.") else tree.function(source, one) or source.tree
            if not name or home is None or tree.literal(one.value) != 1 or not _waited_for(source, home, name):
                continue
            if not any(_sets_back(source, assign, name, one) for assign in tree.under(source, home, ast.Assign)):
                yield source.hit(
                    stored[0], f"`{name}` goes on counting after this: set `{name} = 0` where the best is beaten"
                )


def _waited_for(source: Source, home: ast.AST, name: str) -> bool:
    """Whether the count is compared with a patience."""
    tests = (
        one
        for one in tree.under(source, home, ast.Compare)
        if name in [tree.dotted(one.left), tree.dotted(one.comparators[0])]
    )
    return any("patience" in source.code(one) for one in tests)


def _sets_back(source: Source, assign: ast.Assign, name: str, grown: ast.AugAssign) -> bool:
    """Whether an assignment gives the count a new value after the start."""
    targets = [part for one in assign.targets for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    if name not in [tree.dotted(one) for one in targets]:
        return False
    if name.startswith("self."):
        home = tree.function(source, assign)
        return home is None or home.name != "__init__"
    around = tree.loops(source, grown)
    return not around or any(tree.inside(source, assign, one) for one in around[-1:])


def _saved_always(source: Source, choice: ast.If) -> Iterator[Hit]:
    """`if loss < best: best = loss`, and beside it, not in it, the save to `best.pt`."""
    stored = {tree.dotted(one.targets[0]) for one in choice.body if isinstance(one, ast.Assign)}
    beaten = [tree.dotted(one) for one in tree.under(source, choice.test, ast.Name, ast.Attribute)]
    best = next((name for name in beaten if name in stored and _BEST.search(name)), "")
    block = next(
        (
            part
            for part in (getattr(source.parents[choice], field, None) for field in ("body", "orelse"))
            if isinstance(part, list) and choice in part
        ),
        [],
    )
    after = (
        block[block.index(choice) + 1 : block.index(choice) + 3]
        if best and not choice.orelse and not tree.ends(choice.body)
        else []
    )
    for statement in after:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and source.name(call.func) == "torch.save" and _named_best(source, call):
            told = f"this overwrites the best checkpoint in every turn, whether `{best}` was beaten or not: move it into the `if`"
            yield source.hit(call, told)


def _named_best(source: Source, call: ast.Call) -> bool:
    """Whether the file is called best: in the path as it stands, in a name, or in what was assigned to it."""
    path = tree.argument(call, 1, "f")
    if path is None:
        return False
    texts = [source.code(path), source.code(follow.followed(source, path))]
    owner = project.enclosing_class(source, path) if tree.dotted(path).startswith("self.") else None
    texts += (
        [one.source.code(one.value) for one in classes.assigned(owner, tree.dotted(path)[5:]) if one.value]
        if owner
        else []
    )
    named = any(re.search("best", text, re.IGNORECASE) for text in texts)
    return named and not any(re.search(r"last|latest|epoch", text, re.IGNORECASE) for text in texts)


def _may_keep(source: Source) -> bool:
    """Whether the file saves weights anywhere; asked before its choices."""
    keepers = (*source.calls("torch.save", "copy.deepcopy"), *source.methods(*_SAVERS))
    return bool(keepers) or "clone()" in source.text


def _keeps(source: Source, choice: ast.If) -> bool:
    """Whether the weights are saved where the value is beaten."""
    calls = [one for part in choice.body for one in tree.under(source, part, ast.Call)]
    return any(
        source.name(one.func) == "torch.save"
        or (source.name(one.func) == "copy.deepcopy" and "state_dict" in source.code(one))
        or follow.method(one) in _SAVERS
        for one in calls
    ) or any(
        isinstance(part, ast.Assign) and "state_dict()" in source.code(part.value) and "clone()" in source.code(part)
        for part in choice.body
    )


def _stored_always(source: Source, choice: ast.If, name: str, value: ast.expr) -> ast.Assign | None:
    """`best = value` beside the `if` and nowhere else in the loop, so that it is the value of the turn before."""
    loop = tree.loops(source, choice)[0]
    stored = [one for one in tree.under(source, loop, ast.Assign) if tree.dotted(one.targets[0]) == name]
    beside = (
        len(stored) == 1 and source.parents[stored[0]] is source.parents[choice] and stored[0].lineno > choice.lineno
    )
    return stored[0] if beside and ast.dump(stored[0].value) == ast.dump(value) and not choice.orelse else None


def _is_only_start(source: Source, best: ast.expr, name: str) -> bool:
    """Whether nothing but numbers outside of loops is ever stored under the name."""
    if isinstance(best, ast.Name):
        bound = scopes.bound(source, best.id).get(scopes.scope_of(source, best), [])
        reached = [*(one.names for one in source.all(ast.Global)), *(one.names for one in source.all(ast.Nonlocal))]
        shared = any(best.id in names for names in reached)
        stored = [(one.statement, scopes.part(one)) for one in bound]
    else:
        stored = [pair for one in source.all(ast.Assign) for pair in _given(one, name)]
        shared = tree.class_of(source, best) is None or any(
            _names(one, name)
            for one in source.all(ast.Tuple, ast.AugAssign, ast.AnnAssign)
            if not _written(source, one)
        )
        shared = shared or "setattr" in source.text or source.text.count(name.rpartition(".")[2]) > _uses(source, name)
    plain = all(not tree.loops(source, one) and _is_number(source, value) for one, value in stored)
    said = any(word in name.lower() for word in ("best", "lowest", "highest")) or all(
        _is_extreme(value) for _, value in stored
    )
    return bool(stored) and plain and said and not shared


def _is_extreme(value: ast.expr | None) -> bool:
    """A number to be beaten at once, 0, -1, 1e9 or infinity; `least_score = 0.9` is a limit."""
    number = tree.literal(value)
    return not isinstance(number, int | float) or number <= 0 or number >= 99


def _given(assign: ast.Assign, name: str) -> Iterator[tuple[ast.Assign, ast.expr]]:
    """What an assignment gives a name, `self.best, self.kept = float("inf"), None` too."""
    for target in assign.targets:
        if tree.dotted(target) == name:
            yield assign, assign.value
        elif isinstance(target, ast.Tuple) and isinstance(assign.value, ast.Tuple):
            pairs = zip(target.elts, assign.value.elts, strict=False)
            yield from ((assign, value) for one, value in pairs if tree.dotted(one) == name)


def _written(source: Source, node: ast.AST) -> bool:
    """The left side of `a, b = 0, 1`."""
    up = source.parents[node]
    whole = isinstance(node, ast.Tuple) and isinstance(up, ast.Assign) and isinstance(up.value, ast.Tuple)
    return whole and not any(isinstance(one, ast.Starred) for one in ast.walk(up))


def _names(node: ast.AST, name: str) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node.target]  # type: ignore[attr-defined]  # one of the three
    stores = [one for one in parts if isinstance(getattr(one, "ctx", None), ast.Store)]
    return any(tree.dotted(one) == name for one in stores)


def _uses(source: Source, name: str) -> int:
    return source.text.count(name)


def _is_number(source: Source, value: ast.expr | None) -> bool:
    if value is None:
        return False
    if isinstance(value, ast.UnaryOp):
        return _is_number(source, value.operand)
    named = source.name(value) in ("math.inf", "numpy.inf", "torch.inf", "sys.maxsize", "numpy.Inf")
    infinite = isinstance(value, ast.Call) and source.name(value.func) == "float" and len(value.args) == 1
    return named or infinite or isinstance(tree.literal(value), int | float)


def _taken_before(source: Source, test: ast.Compare) -> str:
    """`best = max(best, value)` right above, in the same block, before `value > best` is asked."""
    here = tree.statement(source, test)
    up = source.parents[here]
    block = next((body for body in (getattr(up, "body", []), getattr(up, "orelse", [])) if here in body), [])
    sides = {ast.dump(one): tree.dotted(one) for one in (test.left, test.comparators[0])}
    for one in block[: block.index(here)] if here in block else ():
        if isinstance(one, ast.If) and (name := _taken_there(one, test)):
            return name
        call = one.value if isinstance(one, ast.Assign) else None
        if (
            not isinstance(one, ast.Assign)
            or not isinstance(call, ast.Call)
            or source.name(call.func) not in ("max", "min")
        ):
            continue
        name = tree.dotted(one.targets[0])
        if name in sides.values() and len(call.args) == 2 and {ast.dump(arg) for arg in call.args} == set(sides):
            grows = isinstance(test.ops[0], ast.Gt) == (tree.dotted(test.comparators[0]) == name)
            never = grows == (source.name(call.func) == "max")  # `n > kept` behind `kept = min(n, kept)` may well be
            return name if never else ""
    return ""


def _taken_there(choice: ast.If, test: ast.Compare) -> str:
    """`best` of `if value > best: best = value` above the same question."""
    for best, value in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        sets = [
            one
            for one in choice.body
            if isinstance(one, ast.Assign) and tree.dotted(one.targets[0]) == tree.dotted(best)
        ]
        if (
            sets
            and tree.dotted(best)
            and ast.dump(choice.test) == ast.dump(test)
            and ast.dump(sets[-1].value) == ast.dump(value)
        ):
            return tree.dotted(best)
    return ""


def _in_another_method(source: Source) -> Iterator[Hit]:
    """`score = self.evaluate()`, which keeps it where it is the best, and then `self.stops(score)`, which asks `score > self.best`."""
    for cls in classes.all_classes(source) if uses.says(source, "best") else ():
        own = classes.methods(cls)
        asked = [(node, one) for node in own.values() for one in tree.under(source, node, ast.Compare)]
        strict = [(node, one) for node, one in asked if len(one.ops) == 1 and isinstance(one.ops[0], ast.Lt | ast.Gt)]
        for home, test in strict:
            for name, best in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
                arg = next((one for one in tree.parameters(home)[1:] if one.arg == tree.dotted(name)), None)
                if arg is None or not tree.dotted(best).startswith("self.") or "best" not in tree.dotted(best):
                    continue
                above = [made for made in _given_by_methods(source, home, arg) if made in own]
                if above and all(_keeps_and_tells(source, own[made], test, tree.dotted(best)) for made in above):
                    told = f"`{tree.dotted(best)}` has taken the value in `{above[0]}` already, so it is never beaten"
                    yield source.hit(test, f"{told}: compare with what it was before", severity="warning")


def _given_by_methods(source: Source, home: tree.FunctionNode, arg: ast.arg) -> list[str]:
    """`evaluate` for each call that gives `score` of `score = self.evaluate(...)`; "" for one that gives something else."""
    function = project.as_function(source, home)
    found: list[str] = []
    for where, call, skip in calls.callers(function):
        given = calls.given_argument(function, call, arg, skip)
        made = follow.followed(where, given) if given is not None and where is source else None
        name = tree.dotted(made.func) if isinstance(made, ast.Call) else ""
        found.append(name.removeprefix("self.") if name.startswith("self.") else "")
    return found if all(found) else []


def _keeps_and_tells(source: Source, method: tree.FunctionNode, test: ast.Compare, best: str) -> bool:
    """`if score > self.best: self.best = score` and `return score`, with the same sign."""
    back = {tree.dotted(one) for one in calls.returned(project.as_function(source, method))}
    for choice in tree.under(source, method, ast.If):
        asked = choice.test
        sides = [asked.left, asked.comparators[0]] if isinstance(asked, ast.Compare) and len(asked.ops) == 1 else []
        named = [tree.dotted(one) for one in sides]
        same = isinstance(asked, ast.Compare) and type(asked.ops[0]) is type(test.ops[0]) and best in named
        turned = same and (named.index(best) == 1) == (tree.dotted(test.comparators[0]) == best)
        sets = [one for one in choice.body if isinstance(one, ast.Assign) and tree.dotted(one.targets[0]) == best]
        if turned and sets and {tree.dotted(sets[-1].value)} == back and tree.dotted(sets[-1].value) in named:
            return True
    return False


def _too_late(source: Source) -> Iterator[Hit]:
    """`value > best` asked after `best` has taken the value."""
    for asked in source.all(ast.Compare) if uses.says(source, "best") else ():
        if len(asked.ops) == 1 and isinstance(asked.ops[0], ast.Lt | ast.Gt) and (name := _taken_before(source, asked)):
            yield source.hit(
                asked, f"`{name}` has taken the new value just above, so it is never beaten: compare first"
            )
