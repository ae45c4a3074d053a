"""The rule of training-set-overlaps-validation."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, follow, project, scopes, tree, uses, values
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_DRAWS = ("torch.randperm", "numpy.random.permutation")
_HELD_OUT = regex(r"(val|valid|validation|test|dev|eval)(_|$|s?(et|data|loader|ds|dl))")
_TRAIN = regex(r"(train|training|trn)(_|$|s?(et|data|ds))")
_SET = regex(r"(set|data|ds|dataset)s?$")
_LOADS = ("loader", "dl", "iter", "data", "set", "batches")
_LOADER = "torch.utils.data.DataLoader"
_SPLITS = ("torch.utils.data.Subset", "torch.utils.data.random_split", "sklearn.model_selection.train_test_split")


def find(source: Source) -> Iterator[Hit]:
    yield from _handed_twice(source) if "eval_dataset" in source.text else ()
    yield from (*_slices(source), *_train_loader_read(source), *_arrays_twice(source), *_whole_order(source))
    if not any(source.calls(_LOADER, *_SPLITS, *_DRAWS)):
        return
    yield from (*_two_draws(source), *_cut_again(source), *_windows_split(source))
    wrong = list(_wrong_name(source))
    lines = {one.line for one in wrong}
    yield from (*wrong, *(one for one in _same_split(source) if one.line not in lines))
    yield from (*_two_splits(source), *_part_of_part(source))
    for split in source.calls("torch.utils.data.random_split"):
        held = source.parents[split]
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        if isinstance(target, ast.Tuple) and len(target.elts) > 1:
            parts = [tree.dotted(one) for one in target.elts]
            yield from _whole(source, split, parts)
            yield from _drawn_again(source, split, target, parts)


def _handed_twice(source: Source) -> Iterator[Hit]:
    """`Trainer(model, train_dataset=data, eval_dataset=data)`."""
    for given in uses.keywords(source, "eval_dataset"):
        call = source.parents[given]
        training = tree.argument(call, None, "train_dataset") if isinstance(call, ast.Call) else None
        name = source.name(call.func) if isinstance(call, ast.Call) else ""
        same = training is not None and tree.dotted(training) == tree.dotted(given.value) != ""
        if same and name.startswith(("transformers.", "trl.")) and name.endswith("Trainer"):
            told = f"`{source.code(given.value)}` is what it trains on too, so the evaluation says how well it was learned by heart: hold some of it out"
            yield source.hit(given.value, told, severity="warning")


def _arrays_twice(source: Source) -> Iterator[Hit]:
    """`test_set = TensorDataset(x_train, y_train)` below a `train_set` of the same two."""
    made: list[tuple[str, ast.Call, str]] = []
    for call in source.calls("torch.utils.data.TensorDataset"):
        held = source.parents[call]
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        if call.args and all("train" in tree.dotted(one).lower() for one in call.args):
            made.append((name.rpartition(".")[2].lower(), call, source.code(call)))
    trained = {text for name, _, text in made if _TRAIN.match(name)}
    for name, call, text in made:
        if text in trained and _HELD_OUT.match(name) and "train" not in name:
            told = f"`{name}` is made of the training data, as the training set is: give it what was held out"
            yield source.hit(call, told, severity="warning")


def _same_split(source: Source) -> Iterator[Hit]:
    """`val = DataLoader(Frames("train"))`, while the training loader has `Frames("train")` too."""
    made: list[tuple[str, ast.Call, set[object]]] = []
    for call in source.calls(_LOADER):
        data = tree.argument(call, 0, "dataset")
        whole = follow.followed(source, data) if data is not None else None
        drawn = any(tree.keyword(call, one) for one in ("sampler", "batch_sampler"))
        if not isinstance(whole, ast.Call) or drawn or not values.sure(source, whole, "dataset"):
            continue
        named = [one for one in (*whole.args, *(word.value for word in whole.keywords)) if _says_train(one)]
        named += [word for word in whole.keywords if word.arg == "train" and tree.literal(word.value) is True]  # type: ignore[misc]  # only counted
        if named and not _changed(source, data):
            made.append(
                (_loader_name(source, call), call, {ast.dump(whole), (tree.home(source, call), _dumped(whole))})
            )
    shuffled = {one for name, _, same in made if _TRAIN.match(name) for one in same}
    for name, call, same in made:
        if _HELD_OUT.match(name) and "train" not in name and same & shuffled:
            yield source.hit(
                call, f"`{name}` reads the training data, as the training loader does: give it the held-out part"
            )


def _dumped(made: ast.Call) -> str:
    """Which samples it holds, as far as one function tells: a transform or a download makes no other set of it."""
    told = [ast.dump(one) for one in made.args]
    told += [
        ast.dump(one)
        for one in made.keywords
        if one.arg not in ("transform", "target_transform", "transforms", "download")
    ]
    return " ".join([ast.dump(made.func), *told])


def _changed(source: Source, data: ast.expr | None) -> bool:
    """`val_set.data = val_set.data[:n]`: what is in it is chosen afterwards."""
    name = tree.dotted(data) if data is not None else ""
    home = tree.function(source, data) or source.tree if data is not None else source.tree
    stores = (one for one in tree.under(source, home, ast.Attribute) if isinstance(one.ctx, ast.Store))
    return bool(name) and any(tree.dotted(one.value) == name for one in stores)


def _part_of_part(source: Source) -> Iterator[Hit]:
    """`train = Subset(train, a)` and then `val = Subset(train, b)`: `b` counts in the whole, and picks from what is trained on."""
    for call in source.calls("torch.utils.data.Subset"):
        held, data = source.parents[call], tree.argument(call, 0, "dataset")
        name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
        meant = _HELD_OUT.match(name.rpartition(".")[2].lower())
        bound = scopes.reaching(source, data) if isinstance(data, ast.Name) and meant else []
        first = bound[0].value if len(bound) == 1 and bound[0].how == "assign" and not bound[0].path else None
        if not isinstance(first, ast.Call) or source.name(first.func) != "torch.utils.data.Subset":
            continue
        ways = [_origin(source, tree.argument(one, 1, "indices")) for one in (first, call)]
        if ways[0] is not None and ways[0] is ways[1]:
            told = f"`{source.code(data)}` is a part already, whose numbers begin at 0 again: these indices of the whole set pick other samples of it"  # type: ignore[arg-type]  # a name
            yield source.hit(call, f"{told}: cut `{name}` from the whole set too", severity="warning")


def _origin(source: Source, indices: ast.expr | None) -> ast.AST | None:
    """The statement that made `a` of `a, b = train_test_split(...)` and `order` of `order[:n]`."""
    base = indices.value if isinstance(indices, ast.Subscript) and isinstance(indices.slice, ast.Slice) else indices
    bound = scopes.reaching(source, base) if isinstance(base, ast.Name) else []
    made = bound[0] if len(bound) == 1 and bound[0].how == "assign" else None
    if made is None or (base is indices and not made.path):
        return made.statement if made is not None and made.path else None
    return made.statement


def _says_train(node: ast.expr) -> bool:
    return str(tree.literal(node)).lower() in ("train", "training", "trainset")


def _loader_name(source: Source, call: ast.Call) -> str:
    """`val` of `val_loader = ...`, `self.val_loader = ...`, `loaders["val"] = ...` and `{"val": ...}`."""
    held = tree.statement(source, call)
    up = source.parents[call]
    if isinstance(up, ast.Dict):
        keys = [key for key, value in zip(up.keys, up.values, strict=True) if value is call and key is not None]
        return str(tree.literal(keys[0])).lower() if keys else ""
    target = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
    key = tree.literal(target.slice) if isinstance(target, ast.Subscript) else None
    return (
        key.lower()
        if isinstance(key, str)
        else tree.dotted(target).rpartition(".")[2].lower()
        if target is not None
        else ""
    )


def _two_splits(source: Source) -> Iterator[Hit]:
    """`train, _ = random_split(a, ...)` and, drawn anew, `_, val = random_split(b, ...)`."""
    drawn: dict[str, list[ast.Call]] = {"first": [], "second": []}
    for split in source.calls("torch.utils.data.random_split"):
        held, home = source.parents[split], tree.function(source, split)
        target = held.targets[0] if isinstance(held, ast.Assign) else None
        parts = [tree.dotted(one) for one in target.elts] if isinstance(target, ast.Tuple) else []
        alone = len(parts) == 2 and parts.count("_") == 1 and tree.lacks(split, 2, "generator")
        if alone and not _seeded(source, home or source.tree):
            drawn["second" if parts[0] == "_" else "first"].append(split)
    for split in (*drawn["first"], *drawn["second"]) if drawn["first"] and drawn["second"] else ():
        told = "train and held-out part come from two splits that are drawn apart, so they overlap"
        yield source.hit(split, f"{told}: pass each `generator=torch.Generator().manual_seed(0)`, or split once")


def _train_loader_read(source: Source) -> Iterator[Hit]:
    """`val_loss = evaluate(net, train_loader)` in a function that is given a `val_loader` and never reads it."""
    for one in source.all(ast.arg):
        home = source.parents[source.parents[one]] if one.arg.endswith(_LOADS) and _HELD_OUT.search(one.arg) else None
        if not isinstance(home, ast.FunctionDef):
            continue
        given = [arg.arg for arg in tree.parameters(home) if arg.arg.endswith(_LOADS)]
        held = [name for name in given if _HELD_OUT.search(name)]
        if len(given) != 2 or len(held) != 1:
            continue
        other = next(name for name in given if name != held[0])
        if not _TRAIN.search(other) or any(one.id == held[0] for one in tree.under(source, home, ast.Name)):
            continue
        for assign in tree.under(source, home, ast.Assign):
            name, call = tree.dotted(assign.targets[0]), assign.value
            taken = isinstance(call, ast.Call) and any(tree.dotted(one) == other for one in call.args)
            if taken and _HELD_OUT.match(name):
                told = f"`{name}` is measured on `{other}`, and `{held[0]}` is never read: pass `{held[0]}`"
                yield source.hit(assign, told, severity="warning")


def _two_draws(source: Source) -> Iterator[Hit]:
    """`Subset(data, randperm(n)[:a])` and, with another permutation, `Subset(data, randperm(n)[:b])`."""
    drawn: dict[tuple[object, str], ast.Call] = {}
    for subset in source.calls("torch.utils.data.Subset"):
        draw = _draw(source, subset.args[1]) if len(subset.args) > 1 else None
        key = tree.function(source, subset), tree.dotted(subset.args[0]) if subset.args else ""
        if draw is None or not key[1]:
            continue
        first = drawn.setdefault(key, draw)
        if first is not draw and ast.dump(first) == ast.dump(draw) and not _apart(source, first, draw):
            code = source.code(draw)
            yield source.hit(
                subset,
                f"`{code}` is drawn twice, so these samples and those of line {first.lineno} overlap: cut one of them",
                severity="warning",
            )


def _apart(source: Source, first: ast.expr, second: ast.expr) -> bool:
    """Whether never both are drawn: two branches, or one that ends in a `return`."""
    around = [
        up for up in tree.ancestors(source, first) if isinstance(up, ast.If) and not tree.inside(source, second, up)
    ]
    return follow.exclusive(source, first, second) or any(tree.ends(up.body) for up in around)


def _draw(source: Source, node: ast.expr, hops: int = 3) -> ast.Call | None:
    """The call that draws the indices of which a part is taken."""
    sliced = False
    while True:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            node, sliced = node.value, True
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("tolist", "numpy")
        ):
            node = node.func.value
        elif isinstance(node, ast.Name) and hops:
            bound, hops = scopes.reaching(source, node), hops - 1
            if len(bound) != 1 or bound[0].value is None or bound[0].path or bound[0].how != "assign":
                return None
            node = bound[0].value
        else:
            break
    if not (isinstance(node, ast.Call) and sliced and source.name(node.func) in _DRAWS):
        return None
    return node if len(node.args) == 1 and not node.keywords else None


def _wrong_name(source: Source) -> Iterator[Hit]:
    """`val_loader = DataLoader(train_set)`, while `val_set` is made and goes into no loader."""
    loaders = list(source.calls(_LOADER))
    for call in loaders:
        held, home = tree.statement(source, call), tree.function(source, call)
        name = tree.dotted(held.targets[0]).rpartition(".")[2].lower() if isinstance(held, ast.Assign) else ""
        data = _data(call).rpartition(".")[2].lower()
        drawn = any(tree.keyword(call, one) for one in ("sampler", "batch_sampler"))
        if drawn or not _HELD_OUT.match(name) or "train" in name or not _TRAIN.match(data) or _HELD_OUT.search(data):
            continue
        if isinstance(held, ast.Assign) and _only_shown(source, held):
            continue
        given = {_data(one) for one in loaders if "self." in _data(one) or tree.function(source, one) is home}
        unused = [one for one in _sets(source, held) if one not in given]
        if unused:
            told = f"`{name}` reads the training data, and `{unused[0]}` goes into no loader: give it `{unused[0]}`"
            meant = unused[0].rpartition(".")[2].lower() in follow.comment(source, call)  # the right one, commented out
            yield source.hit(call, told, severity="hint" if meant else None)


def _only_shown(source: Source, held: ast.Assign) -> bool:
    """Whether one batch is taken from the loader, to be looked at: `next(iter(loader))`, or a loop that breaks at once."""
    name = held.targets[0]
    if not isinstance(name, ast.Name):
        return False
    same = (one for one in uses.names(source, name.id) if isinstance(one.ctx, ast.Load))
    ups = [source.parents[one] for one in same if any(x.node is name for x in scopes.reaching(source, one))]
    once = [up for up in ups if isinstance(up, ast.For) and isinstance(up.body[-1], ast.Break)]
    once += [up for up in ups if isinstance(up, ast.Call) and source.name(up.func) == "iter"]  # type: ignore[misc]  # a call
    return bool(ups) and len(once) == len(ups)


def _sets(source: Source, held: ast.stmt) -> Iterator[str]:
    """Names of the function that are bound to held-out data and never read by a loader."""
    home = tree.function(source, held) or source.tree
    for one in tree.under(source, home, ast.Assign):
        for target in one.targets[0].elts if isinstance(one.targets[0], ast.Tuple) else one.targets:
            name = tree.dotted(target)
            last = name.rpartition(".")[2].lower()
            if _HELD_OUT.match(last) and _SET.search(last) and "loader" not in last and one.lineno < held.lineno:
                yield name


def _windows_split(source: Source) -> Iterator[Hit]:
    """`random_split(windows, ...)` and `train_test_split(windows, ...)`, where the next window begins one step later."""
    split = [one for one in source.calls("torch.utils.data.random_split") if one.args]
    split += [
        one
        for one in source.calls("sklearn.model_selection.train_test_split")
        if one.args and tree.literal(tree.argument(one, None, "shuffle")) is not False
    ]
    for call in split:
        if _are_windows(source, call.args[0]):
            told = "neighbouring windows share all but one step, so a random split puts most of what it holds out into the training too"
            yield source.hit(call, f"{told}: cut the series in two first", severity="warning")


def _are_windows(source: Source, node: ast.expr, hops: int = 3) -> bool:
    """A dataset of the project that slides over a series, or what a function that does so gave back."""
    for value in source.values(node):
        cls = classes.class_behind(source, value)
        if cls is not None and classes.kind_of_instances(cls) == "dataset":
            ways = classes.methods(cls)
            return any(_slides(cls.source, ways[name]) for name in ("__init__", "__getitem__") if name in ways)
        if (
            value.name == "torch.utils.data.TensorDataset"
            and isinstance(value.node, ast.Call)
            and value.node.args
            and hops
        ):
            return _are_windows(value.source or source, value.node.args[0], hops - 1)
    made = _first_call(source, node, hops)
    found = source.project.resolve(source, made.func) if made is not None else None
    return isinstance(found, project.Function) and _slides(found.source, found.node)


def _first_call(source: Source, node: ast.expr, hops: int) -> ast.Call | None:
    """The call behind `x` of `x, y = windows(series)`, through `torch.tensor(x)` and the like."""
    while hops:
        hops -= 1
        if isinstance(node, ast.Call) and source.name(node.func).startswith(("torch.", "numpy.")) and node.args:
            node = node.args[0]
        elif isinstance(node, ast.Name):
            bound = scopes.reaching(source, node)
            if len(bound) != 1 or bound[0].value is None or bound[0].how != "assign":
                return None
            node = bound[0].value
        else:
            break
    return node if isinstance(node, ast.Call) else None


def _slides(source: Source, function: ast.AST) -> bool:
    """Whether it takes `series[i : i + n]` for every i."""
    for part in tree.under(source, function, ast.Slice):
        low, high = part.lower, follow.followed(source, part.upper) if part.upper is not None else None
        if not isinstance(low, ast.Name) or not (isinstance(high, ast.BinOp) and isinstance(high.op, ast.Add)):
            continue
        same = any(isinstance(side, ast.Name) and side.id == low.id for side in (high.left, high.right))
        if not same or part.step is not None or tree.literal(high.right) == 1:
            continue
        over = next(
            (one for one in tree.loops(source, part) if isinstance(one, ast.For) and tree.dotted(one.target) == low.id),
            None,
        )
        steps = over.iter if over is not None else None
        whole = (
            isinstance(steps, ast.Call)
            and source.name(steps.func) == "range"
            and (len(steps.args) < 3 or tree.literal(steps.args[2]) == 1)
        )
        index = (
            isinstance(function, ast.FunctionDef)
            and function.name == "__getitem__"
            and [one.arg for one in function.args.args][1:2] == [low.id]
        )
        if whole or (over is None and index and len(scopes.reaching(source, low)) == 1):
            return True
    return False


def _whole(source: Source, split: ast.Call, parts: list[str]) -> Iterator[Hit]:
    """The whole set is shuffled for training, and a part of it has a loader of its own."""
    whole = tree.dotted(split.args[0]) if split.args else ""
    owner = tree.class_of(source, split) if whole.startswith("self.") else tree.function(source, split)
    around = tree.class_of if whole.startswith("self.") else tree.function
    loaders = [(one, _data(one)) for one in source.calls(_LOADER) if around(source, one) is owner]
    given = {data for _, data in loaders}
    unused = [part for part in parts if part not in given and part.rpartition(".")[2] not in ("_", "")]
    for one, data in loaders:
        trains = tree.literal(tree.argument(one, 2, "shuffle")) is True
        behind = whole.startswith("self.") or one.lineno > split.lineno
        if whole and data == whole and trains and behind and given & set(parts) and unused[:1] == parts[:1]:
            yield source.hit(
                one,
                f"this shuffles all of `{whole}`, the part that is held out for `{next(iter(given & set(parts)))}` too: give it "
                f"`{parts[0]}`",
            )


def _data(loader: ast.Call) -> str:
    data = tree.argument(loader, 0, "dataset")
    return tree.dotted(data) if data is not None else ""


def _drawn_again(source: Source, split: ast.Call, target: ast.Tuple, parts: list[str]) -> Iterator[Hit]:
    """Each call of the function draws a split of its own and gives one part of it away."""
    home = tree.function(source, split)
    if (
        home is None
        or not tree.lacks(split, 2, "generator")
        or any(_seeds(source, one) for one in tree.under(source, home, ast.Call))
    ):
        return
    function = project.as_function(source, home)
    given = [{part for part in parts if part in _named(one)} for one in calls.returned(function)]
    apart = [one for one in given if len(one) == 1]
    callers = calls.callers(function)
    if len(target.elts) == 2 and len(apart) == len(given) >= 2 and apart[0] != apart[1] and len(callers) >= 2:
        yield source.hit(
            split,
            f"each call of `{home.name}` draws another split, so what one holds out the other trains on: pass "
            "`generator=torch.Generator().manual_seed(0)`, or split once",
        )


def _cut_again(source: Source) -> Iterator[Hit]:
    """`order[:cut] if split == "train" else order[cut:]` in a function that draws the order anew in every call."""
    for draw in source.calls(*_DRAWS):
        held, home = source.parents[draw], tree.function(source, draw)
        while isinstance(held, ast.Attribute | ast.Call):
            held = source.parents[held]
        name = held.targets[0] if isinstance(held, ast.Assign) else None
        if home is None or not isinstance(name, ast.Name) or draw.keywords or _seeded(source, home):
            continue
        cuts = [one for one in tree.under(source, home, ast.Subscript) if tree.dotted(one.value) == name.id]
        parts = [one for one in cuts if isinstance(one.slice, ast.Slice)]
        if any(_other_half(source, one, two) for one in parts for two in parts):
            function = project.as_function(source, home)
            given = {source.code(one[1]) for one in calls.callers(function)}
            if len(given) >= 2:
                yield source.hit(
                    draw,
                    f"each call of `{home.name}` draws another order, so what one holds out the other trains on: pass "
                    "`generator=torch.Generator().manual_seed(0)`, or draw it once",
                )


def _other_half(source: Source, one: ast.Subscript, two: ast.Subscript) -> bool:
    """`order[:cut]` and `order[cut:]`, of which a call takes one."""
    head, tail = one.slice, two.slice
    if (
        not isinstance(head, ast.Slice)
        or not isinstance(tail, ast.Slice)
        or head.lower is not None
        or head.upper is None
    ):
        return False
    same = tail.lower is not None and tail.upper is None and source.code(tail.lower) == source.code(head.upper)
    choice = source.parents[one]
    chosen = isinstance(choice, ast.IfExp) and tree.inside(source, two, choice)
    return same and (chosen or _apart(source, one, two))


def _seeded(source: Source, home: ast.AST) -> bool:
    return any(_seeds(source, one) for one in tree.under(source, home, ast.Call))


def _seeds(source: Source, call: ast.Call) -> bool:
    return (
        source.name(call.func).endswith(("manual_seed", "seed_everything")) or "seed" in tree.dotted(call.func).lower()
    )


def _named(node: ast.expr) -> set[str]:
    return {tree.dotted(one) for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)}


def _slices(source: Source) -> Iterator[Hit]:
    """`train = x[:-n]` beside `val = x[n:]`, and `val = train[-n:]` of what is left for training."""
    cuts = [one for one in source.all(ast.Subscript) if isinstance(one.slice, ast.Slice) and one.slice.step is None]
    ends = [one for one in cuts if _end(one) and _TRAIN.match(_goal(source, one))]
    for train in ends:
        base, n, goal = tree.dotted(train.value), _end(train), _goal(source, train)
        held = tree.statement(source, train)
        whole = held.targets[0] if isinstance(held, ast.Assign) else None
        for other in cuts:
            if tree.function(source, other) is not tree.function(source, train) or not _HELD_OUT.match(
                _goal(source, other)
            ):
                continue
            lower = other.slice.lower if isinstance(other.slice, ast.Slice) and other.slice.upper is None else None
            if lower is None or not base or other.lineno < train.lineno:
                continue
            if tree.dotted(other.value) == base and source.code(lower) == n:
                told = (
                    f"`{source.code(other)}` is all but the first, and training has all but the last: write `[-{n}:]`"
                )
                yield source.hit(other, told, severity="warning")
            taken = whole is not None and tree.dotted(other.value) == tree.dotted(whole) != base
            if taken and source.code(lower) == f"-{n}" and not _cut_later(source, other, tree.dotted(other.value)):
                told = f"`{tree.dotted(other.value)}` has lost these already, so `{goal}` trains on what is held out: cut them from `{base}`"
                yield source.hit(other, told, severity="warning")


def _whole_order(source: Source) -> Iterator[Hit]:
    """`test = u[order[:n]]` beside `train = u[order]`: the order was cut for the one and not for the other."""
    for draw in source.calls(*_DRAWS):
        held, home = tree.statement(source, draw), tree.function(source, draw)
        name = held.targets[0] if isinstance(held, ast.Assign) else None
        if not isinstance(name, ast.Name) or (name.id not in source.text.partition(f"[{name.id}]")[2]):
            continue
        same = [one for one in uses.names(source, name.id) if tree.function(source, one) is home]
        own = [one for one in same if [x.node for x in scopes.reaching(source, one)] == [name]]
        whole = [up for one in own if isinstance(up := source.parents[one], ast.Subscript) and up.slice is one]
        cuts = [up for one in own if isinstance(up := source.parents[one], ast.Subscript) and up.value is one]
        parts = [over for one in cuts if isinstance(over := source.parents[one], ast.Subscript) and over.slice is one]
        for train in whole:
            beside = [one for one in parts if source.code(one.value) == source.code(train.value)]
            held_out = [one for one in beside if _HELD_OUT.match(_goal(source, one))]
            if _TRAIN.match(_goal(source, train)) and len(beside) == len(held_out) == 1:
                told = f"`{source.code(train)}` is all of them, `{source.code(held_out[0])}` that is held out too"
                yield source.hit(train, f"{told}: train on the rest of `{name.id}`", severity="warning")


def _end(cut: ast.Subscript) -> str:
    """`n` of `x[:-n]`."""
    part = cut.slice
    upper = part.upper if isinstance(part, ast.Slice) and part.lower is None else None
    return ast.unparse(upper.operand) if isinstance(upper, ast.UnaryOp) and isinstance(upper.op, ast.USub) else ""


def _goal(source: Source, cut: ast.Subscript) -> str:
    """The name of what a cut is assigned to, or of its place in a tuple of names."""
    held = tree.statement(source, cut)
    target = held.targets[0] if isinstance(held, ast.Assign) else None
    value = held.value if isinstance(held, ast.Assign) else None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        target = next((a for a, b in zip(target.elts, value.elts, strict=True) if cut in ast.walk(b)), None)
    return tree.dotted(target).rpartition(".")[2].lower() if target is not None else ""


def _cut_later(source: Source, cut: ast.Subscript, name: str) -> bool:
    """`train = train[:-n]` after it: the part is taken out of both."""
    stores = [one for one in source.all(ast.Assign) if name in map(tree.dotted, one.targets)]
    return any(one.lineno >= cut.lineno and tree.function(source, one) is tree.function(source, cut) for one in stores)
