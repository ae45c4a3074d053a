"""The rule of saved-state-not-loaded."""

import ast
import difflib
import re
from collections.abc import Callable, Iterator

from torchlore.check import calls, classes, flow, follow, frameworks, project, saved, tree, uses, values
from torchlore.check.source import Hit, Source

_COUNTS = re.compile(r"epoch|step|iter", re.IGNORECASE)
_KINDS = {"optimizer": re.compile(r"opt", re.IGNORECASE), "scheduler": re.compile(r"sched", re.IGNORECASE)}
_KEEPER = re.compile(r"save|load|checkpoint|ckpt|resume|restore", re.IGNORECASE)
_KEEPS = re.compile(r"torch\.optim\.(Adam\w*|NAdam|RAdam|RMSprop|Adagrad|Adadelta|Rprop)$")
WORDS = ("load_state_dict",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_thrown_away(source), *_made_anew(source), *_too_early(source), *_other_key(source), *_rewound(source))
    loads, told_of = list(source.methods("load_state_dict")), set[tuple[object, str]]()
    keyed = [(load, held) for load in loads if (held := _from_key(load)) is not None]
    kept = _saved(source) if keyed and any(source.calls("torch.load")) else {}
    for load, checkpoint in keyed if kept and flow.may_train(source) else ():
        name = _resumed(source, load, checkpoint)
        if not name or frameworks.owned(source, load):
            continue
        for kind, key in kept.items():
            place = (tree.function(source, load), name)
            if _restored(source, loads, kind) or (key and _is_read(source, key)) or place in told_of:
                continue
            told_of.add(place)
            told = f"the {kind}'s state is in the checkpoint and is not loaded, so a resumed run starts with a new one: add `{kind}.load_state_dict({name}[{key!r}])`"
            writes = [] if key else list(source.calls("torch.save"))
            if not key:
                told = f"a resumed run goes on from epoch `{name}` says with a new {kind}: save its `state_dict()` as well, and load it again"
            yield source.hit(writes[0] if len(writes) == 1 else load, told)
            break


def _rewound(source: Source) -> Iterator[Hit]:
    """A scheduler made behind `optimizer.load_state_dict(...)`, with `scheduler.last_epoch = start - 1` and nothing else."""
    for made in uses.assigns(source, ast.Name, ast.Call) if ".last_epoch" in source.text else ():
        call, name = made.value, made.targets[0]
        if not isinstance(call, ast.Call) or not isinstance(name, ast.Name):
            continue
        if not source.name(call.func).startswith("torch.optim.lr_scheduler."):
            continue
        home = tree.function(source, made) or source.tree
        optimizer = tree.dotted(tree.argument(call, 0, "optimizer") or call)
        sets = [
            one
            for one in tree.under(source, home, ast.Assign)
            if tree.dotted(one.targets[0]) == f"{name.id}.last_epoch"
        ]
        loads = [one for one in source.methods("load_state_dict") if tree.inside(source, one, home)]
        early = [one for one in loads if tree.dotted(tree.receiver(one)) == optimizer and one.lineno < made.lineno]
        again = [one for one in loads if tree.dotted(tree.receiver(one)) in (optimizer, name.id) and one not in early]
        if sets and early and not again and tree.keyword(call, "last_epoch") is None and not tree.spread(call):
            told = f"making it sets the learning rate back to the first one, and `{name.id}.last_epoch` moves no rate until the next step"
            yield source.hit(call, f"{told}: make it before `{optimizer}` is loaded, or give it `last_epoch`")


def _other_key(source: Source) -> Iterator[Hit]:
    """`if "optimizer_state" in checkpoint`, where the file's own `torch.save` writes "optim_state", which nobody reads."""
    parts = (
        [saved.contents(source, one) for one in source.calls("torch.save")] if any(source.calls("torch.load")) else []
    )
    written = {key for one in parts for key, _ in one.items if key}
    if not written or not all(one.whole for one in parts):
        return
    for asked, held in _asked_for(source):
        key = str(tree.literal(asked))
        made = follow.binding(source, held)
        if key in written or not isinstance(made, ast.Call) or source.name(made.func) != "torch.load":
            continue
        if _one_of_several(source, asked, held):
            continue
        meant = [one for one in difflib.get_close_matches(key, sorted(written), 3, 0.8) if not _is_read(source, one)]
        if meant:
            told = f"the checkpoint has no {key!r}, it was saved as {meant[0]!r}, so this part is never loaded"
            yield source.hit(asked, f"{told}: ask for {meant[0]!r}")


def _asked_for(source: Source) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The keys of `"model" in checkpoint` and `checkpoint.get("model")`, with what is asked."""
    for test in source.all(ast.Compare):
        if isinstance(test.ops[0], ast.In) and isinstance(tree.literal(test.left), str):
            yield test.left, test.comparators[0]
    for call in source.methods("get"):
        if call.args and isinstance(tree.literal(call.args[0]), str):
            yield call.args[0], tree.receiver(call)


def _one_of_several(source: Source, asked: ast.expr, held: ast.expr) -> bool:
    """`if "model" in checkpoint: ... elif "state_dict" in checkpoint: ... else: net.load_state_dict(checkpoint)`: files of other programs too."""
    test = source.parents[asked]
    first = source.parents[test]
    while isinstance(above := source.parents[first], ast.If) and above.orelse == [first]:
        first = above
    rest = first.orelse if isinstance(first, ast.If) and isinstance(test, ast.Compare) else []
    name = tree.dotted(held)
    return any(tree.dotted(part) == name for one in rest for part in ast.walk(one))


def _too_early(source: Source) -> Iterator[Hit]:
    """`if self.optimizer is not None: self.optimizer.load_state_dict(...)`, called before anything makes the optimizer."""
    for load in source.methods("load_state_dict"):
        owner, home = tree.receiver(load), tree.function(source, load)
        cls = project.enclosing_class(source, load)
        name = tree.dotted(owner)
        asked = [
            test
            for test, branch in tree.conditions(source, load)
            if branch and f"{name} is not None" in source.code(test)
        ]
        if cls is None or home is None or not asked or not name.startswith("self."):
            continue
        held = classes.assigned(cls, name[5:])
        makers = {one.method for one in held if one.value is not None and tree.literal(one.value) is not None}
        empty = [one for one in held if one.method == "__init__" and isinstance(one.value, ast.Constant)]
        if not empty or not makers or "__init__" in makers or home.name in makers:
            continue
        ready = makers | {one for one, node in classes.methods(cls).items() if _runs(source, node, makers)}
        calls_ = [one for one in source.methods(home.name) if one is not load and not _own_call(one)]
        early = bool(calls_) and home.name not in ready and all(_before(source, one, ready) for one in calls_)
        if early and values.maybe(source, owner, "optimizer"):
            told = f"`{name}` is still None when `{home.name}` runs, so the state in the checkpoint is thrown away: make it first, or keep the state until then"
            yield source.hit(asked[0], told, severity="warning")


def _runs(source: Source, node: tree.FunctionNode, makers: set[str]) -> bool:
    """Whether a method calls one of those that make the optimizer."""
    return any(
        tree.dotted(one.func) in {f"self.{name}" for name in makers} for one in tree.under(source, node, ast.Call)
    )


def _own_call(call: ast.Call) -> bool:
    return tree.dotted(tree.receiver(call)) == "self"


def _before(source: Source, call: ast.Call, ready: set[str]) -> bool:
    """Whether the same object gets its optimizer further down, and not further up."""
    who, home = tree.dotted(tree.receiver(call)), tree.function(source, call)
    makes = [one for name in ready for one in source.methods(name) if tree.dotted(tree.receiver(one)) == who]
    near = [one for one in makes if tree.function(source, one) is home]
    bound = [
        one.lineno
        for one in source.all(ast.Name)
        if one.id == who and isinstance(one.ctx, ast.Store) and one.lineno < call.lineno
    ]
    since = max(bound, default=0)
    above = any(since < one.lineno < call.lineno for one in near)
    return bool(who) and not tree.loops(source, call) and not above and any(one.lineno > call.lineno for one in near)


def _thrown_away(source: Source) -> Iterator[Hit]:
    """`optimizer.load_state_dict(...)`, and after it the name is given a new optimizer."""
    loads = [one for one in source.methods("load_state_dict") if tree.is_statement(source, one)]
    for load in loads:
        owner, home = tree.receiver(load), tree.function(source, load)
        name = tree.dotted(owner)
        below = tree.under(source, home, ast.Assign, ast.Expr) if name and home is not None else []  # type: ignore[type-var]  # both are statements
        later = [one for one in below if one.lineno > load.lineno and _may_make(one, name)]
        nodes = [one for one in tree.body_nodes(home) if one in later] if home is not None and later else []
        if not nodes or not _is(source, owner, "optimizer", _KINDS["optimizer"]):
            continue
        anew = [one for one in nodes if _makes(source, one, name) and not follow.exclusive(source, one, load)]
        same = [one for one in loads if one.lineno > load.lineno and tree.function(source, one) is home]
        again = [one for one in same if tree.dotted(tree.receiver(one)) == name]
        outer = tree.conditions(source, load)
        always = anew and all(one in outer for one in tree.conditions(source, anew[0]))
        if always and not again and not _left_before(source, load, anew[0]):
            told = f"this makes a new optimizer, and the state that `{name}` loaded on line {load.lineno} is lost: make it first, then load"
            yield source.hit(anew[0], told)


def _made_anew(source: Source) -> Iterator[Hit]:
    """`trainer.resume(path)` loads `self.optimizer`, and `trainer.fit()`, called after it, makes a new one."""
    for load in source.methods("load_state_dict"):
        name = tree.dotted(tree.receiver(load))
        home = tree.function(source, load) if name.startswith("self.") else None
        cls = source.parents[home] if home is not None and home.name != "__init__" else None
        methods = classes.methods(project.as_class(source, cls)) if isinstance(cls, ast.ClassDef) else {}
        for other in methods.values() if home is not None and methods.get(home.name) is home else ():
            made = [one for one in other.body if isinstance(one, ast.Assign) and _makes(source, one, name)]
            again = name in {tree.dotted(tree.receiver(one)) for one in _loads(source, other)}
            if made and not again and other.name != "__init__" and _in_order(source, home.name, other.name):  # type: ignore[union-attr]  # there are methods
                told = f"this makes a new optimizer, and what `{home.name}` loaded into `{name}` is lost: make it in `__init__`"  # type: ignore[union-attr]  # as above
                yield source.hit(made[0], told)


def _loads(source: Source, method: tree.FunctionNode) -> list[ast.Call]:
    return [one for one in tree.under(source, method, ast.Call) if follow.method(one) == "load_state_dict"]


def _in_order(source: Source, first: str, second: str) -> bool:
    """Whether one object's methods are called in this order, in one function, and the second never before the first."""
    early, late = (list(source.methods(name)) for name in (first, second))
    for one in early:
        owner, home = tree.dotted(tree.receiver(one)), tree.function(source, one)
        same = [two for two in late if tree.dotted(tree.receiver(two)) == owner and tree.function(source, two) is home]
        if (
            owner
            and same
            and all(two.lineno > one.lineno for two in same)
            and not follow.exclusive(source, one, same[0])
        ):
            return True
    return False


def _left_before(source: Source, load: ast.Call, anew: ast.stmt) -> bool:
    """Whether the block of the loading ends in a `return`."""
    ups = [
        one for one in tree.ancestors(source, load) if isinstance(one, ast.If) and not tree.inside(source, anew, one)
    ]
    return any(tree.ends(block) is not None for one in ups for block in (one.body, one.orelse) if block)


def _may_make(node: ast.stmt, name: str) -> bool:
    """A call whose result gets the name, or a call of another method of its owner."""
    if isinstance(node, ast.Assign) and tree.dotted(node.targets[0]) == name:
        return isinstance(node.value, ast.Call)
    base = name.rpartition(".")[0]
    call = node.value if isinstance(node, ast.Expr) and base else None
    return isinstance(call, ast.Call) and tree.dotted(call.func).rpartition(".")[0] == base


def _makes(source: Source, node: ast.stmt, name: str) -> bool:
    """`optimizer = torch.optim.Adam(...)`, or a call of the owner's method that sets it."""
    call = node.value if isinstance(node, ast.Assign | ast.Expr) and _may_make(node, name) else None
    if not isinstance(call, ast.Call):
        return False
    if isinstance(node, ast.Assign):
        moved = any(tree.dotted(one) == name for one in call.args)  # `optimizer = moved(optimizer, device)`
        return not moved and values.sure(source, call, "optimizer")
    attribute = name.rpartition(".")[2]
    inner = flow.called(source, call)
    made = tree.under(inner.source, inner.node, ast.Assign) if inner is not None and inner.owner else []
    own = [one.value for one in made if tree.dotted(one.targets[0]) == f"self.{attribute}"]
    return bool(own) and inner is not None and all(values.sure(inner.source, one, "optimizer") for one in own)


def _saved(source: Source) -> dict[str, str]:
    """The optimizer and the scheduler, with the key they are saved under; "" for an optimizer that is left out."""
    found, left_out = dict[str, str](), False
    for call in source.calls("torch.save"):
        parts = saved.contents(source, call)
        counts = any(_COUNTS.search(key) for key, _ in parts.items)
        for key, expr in parts.items:
            asked = (
                isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr == "state_dict"
            )
            owner = tree.receiver(expr) if asked and isinstance(expr, ast.Call) else None
            for kind, name in _KINDS.items():
                if owner is not None and counts and key and _is(source, owner, kind, name):
                    found[kind] = key
        left_out = left_out or (counts and parts.whole)
    stateful = not found and left_out and any(_keeps(*one) for one in uses.calls_under(source, "torch.optim."))
    if stateful and not ("opt" in "".join(_keys(source)).lower() or _handed_over(source)):
        found["optimizer"] = ""
    return found


def _handed_over(source: Source) -> bool:
    """`save_all(path, model, optimizer)`: somebody else keeps its state."""
    keepers = (one for one in source.all(ast.Call) if _KEEPER.search(tree.dotted(one.func)))
    return any(_KINDS["optimizer"].search(tree.dotted(arg)) for one in keepers for arg in one.args)


def _keeps(call: ast.Call, full: str) -> bool:
    """An optimizer with a memory: Adam and the like, SGD with momentum."""
    momentum = tree.argument(call, 2, "momentum") if full == "torch.optim.SGD" else None
    return _KEEPS.match(full) is not None or (momentum is not None and tree.literal(momentum) != 0)


def _keys(source: Source) -> Iterator[str]:
    for call in source.calls("torch.save"):
        yield from (f"{key} {source.code(expr)}" for key, expr in saved.contents(source, call).items)


def _is(source: Source, node: ast.expr, kind: str, name: re.Pattern[str]) -> bool:
    named = name.search(tree.dotted(node).rpartition(".")[2]) is not None
    return values.sure(source, node, kind) or (named and not values.kind(source, node))


def _from_key(load: ast.Call) -> ast.Name | None:
    """`checkpoint` of `net.load_state_dict(checkpoint["net"])`."""
    held = load.args[0] if load.args else None
    name = held.value if isinstance(held, ast.Subscript) and isinstance(tree.literal(held.slice), str) else None
    return name if isinstance(name, ast.Name) else None


def _resumed(source: Source, load: ast.Call, name: ast.Name) -> str:
    """The checkpoint's name, where the model is read from it and training goes on at the epoch it says."""
    if any(_is(source, tree.receiver(load), kind, way) for kind, way in _KINDS.items()):
        return ""
    home = tree.function(source, load)
    carried = set[str]()
    for one in tree.under(source, home or source.tree, ast.Assign):
        if tree.function(source, one) is home and _counts(one.value, name.id):
            carried.add(tree.dotted(one.targets[0]))
    if any(_goes_on(source, _is_named(one), "." in one, home) for one in carried if one):
        return name.id
    if _goes_on(source, lambda one: _COUNTS.search(_key(one, name.id)) is not None, False, home):
        return name.id  # `range(checkpoint["epoch"], epochs)`, `run(net, checkpoint["epoch"])`
    back = [one for one in tree.under(source, home, ast.Return) if one.value is not None] if home is not None else []
    told = any(_counts(one.value, name.id) or carried & _names(one.value) for one in back if one.value is not None)
    return name.id if home is not None and told and _given_back(source, home) else ""


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _counts(node: ast.expr, checkpoint: str) -> bool:
    """Whether the epoch, the step or the iteration is read from the checkpoint."""
    return any(_COUNTS.search(_key(one, checkpoint)) for one in ast.walk(node))


def _given_back(source: Source, home: tree.FunctionNode) -> bool:
    """Whether a caller begins its loop at a number that the function returns."""
    for other, call, _ in calls.callers(project.as_function(source, home)):
        held = tree.statement(other, call)
        names = {one for target in held.targets for one in _names(target)} if isinstance(held, ast.Assign) else set()
        if other is source and any(_COUNTS.search(one) or "start" in one for one in names):
            at = tree.function(source, call)
            if any(_goes_on(source, _is_named(one), "." in one, at) for one in names):
                return True
    return False


def _key(node: ast.AST, name: str) -> str:
    """`epoch` of `checkpoint["epoch"]` and of `checkpoint.get("epoch", 0)`."""
    if isinstance(node, ast.Subscript) and tree.dotted(node.value) == name:
        return str(tree.literal(node.slice))
    got = isinstance(node, ast.Call) and tree.dotted(node.func) == f"{name}.get" and node.args
    return str(tree.literal(node.args[0])) if got and isinstance(node, ast.Call) else ""


def _is_named(name: str) -> Callable[[ast.AST], bool]:
    return lambda node: tree.dotted(node) == name


def _goes_on(source: Source, meant: Callable[[ast.AST], bool], anywhere: bool, home: tree.FunctionNode | None) -> bool:
    """Whether a loop that trains begins at this number: `range(start, epochs)`, `while self.epoch < n`."""
    for loop in flow.backward_loops(source):
        node = loop.node
        test = node.iter if isinstance(node, ast.For) else node.test if isinstance(node, ast.While) else None
        inner = [one for one in ast.walk(test) if isinstance(one, ast.Call)] if test is not None else []
        begun = [
            one.args[0] for one in inner if source.name(one.func) in ("range", "tqdm.trange") and len(one.args) > 1
        ]
        near = anywhere or tree.function(source, node) is home
        for part in [test] if isinstance(node, ast.While) and test is not None else begun:
            if any((near and meant(one)) or _passed(source, one, meant, home) for one in ast.walk(part)):
                return True
    return False


def _passed(source: Source, node: ast.AST, meant: Callable[[ast.AST], bool], home: tree.FunctionNode | None) -> bool:
    """A parameter of the loop's function that gets this number."""
    outer = tree.function(source, node) if isinstance(node, ast.Name) else None
    arg = (
        next((one for one in tree.parameters(outer) if one.arg == node.id), None)
        if outer and isinstance(node, ast.Name)
        else None
    )
    if outer is None or arg is None:
        return False
    function = project.as_function(source, outer)
    given = [(call, calls.given_argument(function, call, arg, skip)) for _, call, skip in calls.callers(function)]
    return any(one is not None and meant(one) and tree.function(source, call) is home for call, one in given)


def _restored(source: Source, loads: list[ast.Call], kind: str) -> bool:
    """Whether a state of this kind is loaded anywhere, or somebody else gets the checkpoint and may do it."""
    own = any(_is(source, tree.receiver(one), kind, _KINDS[kind]) for one in loads)
    unknown = [
        one for one in loads if isinstance(tree.receiver(one), ast.Subscript | ast.Name) and tree.loops(source, one)
    ]
    return own or any("key" in source.code(one) or "name" in source.code(one) for one in unknown)


def _is_read(source: Source, key: str) -> bool:
    """Whether the key stands anywhere but in what is saved."""
    texts = [one for one in source.all(ast.Constant) if one.value == key]
    return len([one for one in texts if not isinstance(source.parents[one], ast.Dict)]) > 0
