"""The rule of accumulate-loss-with-graph."""

import ast
from collections.abc import Iterator

from torchlore.check import api, calls, classes, edits, flow, follow, frameworks, kept, scopes, tree, uses, values
from torchlore.check.identity import Identity, identity
from torchlore.check.iteration import unwrapped
from torchlore.check.project import enclosing_class
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

WORDS = ("backward|training_step",)


def find(source: Source) -> Iterator[Hit]:
    yield from _in_training_step(source) if "training_step" in source.text else ()
    if not any(source.methods("backward")):
        return
    for loop in flow.training_loops(source):
        over = loop.node.iter if isinstance(loop.node, ast.For) else None
        few = isinstance(over, ast.List | ast.Tuple) and over.elts  # a turn for each of them
        if (
            few
            or _for_each_net(loop)
            or _over_chunks(source, loop.node)
            or _window(source, loop)
            or follow.in_test(source, loop.node)
        ):
            continue
        done = {event.owner for event in loop.direct("backward") if event.owner is not None}
        for node, target, value in kept.every(source, loop.node):
            if (
                tree.loops(source, node)[:1] != [loop.node]
                or not kept.outlives(source, target, loop.node)
                or _begins_again(source, loop.node, target)
                or _emptied_by_method(source, loop.node, target)
            ):
                continue
            for leaf in kept.leaves(value):
                same = identity(source, leaf) in done
                same &= values.attached(source, leaf) is True or _differentiated(source, leaf, loop)
                if (same or _is_entry(source, leaf, loop)) and not no_grad_around(source, node):
                    yield _hit(source, node, target, leaf)
        yield from _beside(source, loop, done)
    yield from (*_in_methods(source), *_never_emptied(source), *_replayed(source))


def _in_training_step(source: Source) -> Iterator[Hit]:
    """`self.outputs.append({"loss": loss})` in a `training_step`, after which Lightning runs the backward pass itself."""
    for call in source.methods("append"):
        home = tree.function(source, call)
        if home is None or home.name != "training_step" or not tree.dotted(tree.receiver(call)).startswith("self."):
            continue
        held = follow.followed(source, call.args[0]) if len(call.args) == 1 else None
        parts = held.values if isinstance(held, ast.Dict) else call.args
        graphs = [leaf for part in parts for leaf in kept.leaves(part) if values.attached(source, leaf) is True]
        if graphs and tree.is_statement(source, call) and not no_grad_around(source, call):
            name = source.code(graphs[0])
            told = f"`{source.code(tree.receiver(call))}` keeps the graph of every `{name}` in memory: add `{name}.detach()`"
            yield source.hit(call, told, severity="warning")


def _for_each_net(loop: flow.LoopFlow) -> bool:
    """`self.optimizers[agent].step()` in `for agent in range(n)`: a turn for each of a few nets, and no more."""
    turn = tree.dotted(loop.node.target) if isinstance(loop.node, ast.For) else ""
    steps = [one.expr for one in loop.direct("step")]
    return turn != "" and any(isinstance(one, ast.Subscript) and tree.dotted(one.slice) == turn for one in steps)


def _beside(source: Source, loop: flow.LoopFlow, done: set[Identity]) -> Iterator[Hit]:
    """A part of the loss, an output, or what a step gives back, kept with its graph from turn to turn."""
    steps = loop.direct("backward")
    if any(follow.seldom(source, event.at, loop.node) for event in steps) or frameworks.owned(source, loop.node):
        return  # one backward pass for several turns may want what they keep
    if _summed_for_later(source, loop.node):
        return
    for node, target, value in kept.every(source, loop.node):
        if not _each_turn(source, node, loop.node) or no_grad_around(source, node):
            continue
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        made = [one for one in parts if isinstance(one, ast.Call)]
        whole = [one for one in made if flow.called(source, one) or _is_measure(source, one)]
        named = list(kept.leaves(value))
        rows = [one.value for one in parts if isinstance(one, ast.Subscript) and one not in named]
        rows = [one for one in rows if isinstance(one, ast.Name)]
        leaves = [one for one in (*named, *whole, *rows) if identity(source, one) not in done]
        graphs = [one for one in leaves if _carries_graph(source, one) or _holds(source, one, loop)]
        graphs = [one for one in graphs if not _emptied_here(source, one)]
        lives = kept.outlives(source, target, loop.node) and not _begins_again(source, loop.node, target)
        if graphs and lives and not _comes_back(source, target, loop):
            name, total = source.code(graphs[0]), source.code(target) if target is not None else ""
            single = values.attached(source, graphs[0]) is True or _returns_loss(source, graphs[0])
            add = f"add `{name}.detach()`" if single else "detach what is in it first"
            yield source.hit(node, f"`{total}` keeps the graph of every `{name}` in memory: {add}", severity="warning")


def _summed_for_later(source: Source, loop: tree.Loop) -> bool:
    """`total += loss` in the loop and `total.backward()` behind it: the graphs of all turns are wanted until then."""
    sums = {tree.dotted(one.target) for one in tree.under(source, loop, ast.AugAssign) if isinstance(one.op, ast.Add)}
    home = tree.function(source, loop)
    passes = tree.among(source, uses.attributes(source, "backward"), home) if sums - {""} else ()
    later = (one for one in passes if one.lineno > (loop.end_lineno or 0) and tree.dotted(one.value) in sums - {""})
    return any(tree.function(source, one) is home for one in later)


def _each_turn(source: Source, node: ast.AST, loop: tree.Loop) -> bool:
    """In the loop itself, or in one over functions, or over a few values: the entries of a dictionary, pairs that are written out."""
    around = tree.loops(source, node)
    inner = around[0] if around and isinstance(around[0], ast.For) else None
    few = inner is not None and follow.method(inner.iter) in ("items", "values")
    few |= inner is not None and isinstance(follow.followed(source, inner.iter), ast.Tuple | ast.List)
    few |= (
        inner is not None
        and isinstance(inner.iter, ast.Call)
        and source.name(inner.iter.func) in ("zip", "range", "enumerate")
    )
    few |= inner is not None and values.sure(source, inner.target, "function")
    return around[:1] == [loop] or (few and around[1:2] == [loop])


def _returns_loss(source: Source, node: ast.expr) -> bool:
    """A call of a function that runs `loss.backward()` and gives that loss back as it is."""
    call = follow.followed(source, node)
    made = flow.called(source, call) if isinstance(call, ast.Call) else None
    back = calls.returned(made) if made is not None else []
    if made is None or len(back) != 1 or not isinstance(back[0], ast.Name):
        return False
    ran = [
        tree.receiver(one) for one in made.source.methods("backward") if tree.function(made.source, one) is made.node
    ]
    bound = scopes.reaching(made.source, back[0])
    return any(
        isinstance(one, ast.Name) and one.id == back[0].id and scopes.reaching(made.source, one) == bound for one in ran
    )


def _carries_graph(source: Source, node: ast.expr) -> bool:
    """A tensor with a graph, or a dictionary or tuple that holds one."""
    if _returns_loss(source, node):
        return True
    found = values.values(source, node)
    held = [[one for group in value.items for one in group] for value in found if value.kind in ("dict", "tuple")]
    if held and len(held) == len(found):
        return all(any(one.kind == "tensor" and one.attached for one in inner) for inner in held)
    if isinstance(node, ast.Call) and _is_measure(source, node):
        return True
    return values.attached(source, node) is True and not values.maybe(source, node, "parameter")


def _is_measure(source: Source, call: ast.Call) -> bool:
    """`metric(output, y)` of an output with a graph and functions in a list, each of which lets the graph through."""
    made = values.values(source, call.func) if isinstance(call.func, ast.Name) and call.args else ()
    passing = bool(made) and all(
        isinstance(one.node, ast.FunctionDef) and _passes(one.source, one.node) for one in made
    )
    return passing and any(values.attached(source, one) is True for one in call.args)


def _passes(source: Source | None, function: ast.FunctionDef) -> bool:
    """`return (output - target).abs().mean()`: made of a parameter by nothing that cuts the graph."""
    back = [one for one in tree.body_nodes(function) if isinstance(one, ast.Return)]
    value = back[0].value if len(back) == 1 and source is not None else None
    if source is None or value is None or no_grad_around(source, back[0]):
        return False
    parts = list(ast.walk(value))
    calls = [one for one in parts if isinstance(one, ast.Call)]
    taken = {one.arg for one in tree.parameters(function)}
    given = {one.id for one in parts if isinstance(one, ast.Name)} & taken
    smooth = all(follow.method(one) in kept.PASS or source.name(one.func) in api.LOSS_FUNCTIONS for one in calls)
    return bool(calls) and smooth and bool(given) and not any(isinstance(one, ast.Compare) for one in parts)


def _emptied_here(source: Source, leaf: ast.expr) -> bool:
    """`out["loss"] = out["loss"].detach()`, `out.pop("loss")`, `del out["loss"]`: the dictionary no longer is what made it."""
    for use in uses.names(source, leaf.id) if isinstance(leaf, ast.Name) else ():
        up = source.parents[use]
        other = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store | ast.Del) and not _sums(source, up)
        other |= isinstance(up, ast.Attribute) and up.attr in ("pop", "update", "clear")
        if other and tree.function(source, use) is tree.function(source, leaf):
            return True
    return False


def _sums(source: Source, entry: ast.Subscript) -> bool:
    """`losses["all"] = losses["a"] + losses["b"]` takes nothing out."""
    held = source.parents[entry]
    return isinstance(held, ast.Assign) and isinstance(held.value, ast.BinOp)


def _comes_back(source: Source, target: ast.expr | None, loop: flow.LoopFlow) -> bool:
    """Whether what is kept comes into a loss, or is given on in the loop: somebody may want its graph."""
    root = target.value if isinstance(target, ast.Subscript) else target
    name = tree.dotted(root) if root is not None else ""
    own = name.startswith("self.")
    meter = root is not None and values.sure(source, root, "object")  # `meter.result()` is there to be shown
    for use in uses.attributes(source, name.rpartition(".")[2]) if own else uses.names(source, name):
        up = source.parents[use]
        grows = use is root or (isinstance(up, ast.Attribute) and (meter or up.attr in kept.KEEPS))
        if isinstance(use.ctx, ast.Load) and not grows and (own or tree.inside(source, use, loop.node)):
            same = isinstance(statement := tree.statement(source, use), ast.Assign | ast.AugAssign)
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            again = same and any(tree.dotted(one) == name for one in targets)
            again |= isinstance(statement, ast.AugAssign) and tree.inside(
                source, use, statement.target
            )  # stats["mae"] += x
            if not again and not _shown(source, use):
                return True
    return False


def _shown(source: Source, use: ast.expr) -> bool:
    """`print(f"{total / n:.3f}")`, `total.item()`, `float(total)`, `len(losses)`: only looked at."""
    outer = [use, *tree.ancestors(source, use)][:7]
    comps = [one for one in outer if isinstance(one, ast.ListComp | ast.DictComp | ast.GeneratorExp)]
    each = [one.value if isinstance(one, ast.DictComp) else one.elt for one in comps]  # {k: float(sum(v)) for ...}
    calls = [one for one in [*outer, *each] if isinstance(one, ast.Call)]
    shown = ("print", "float", "len", "numpy.mean")
    return any(source.name(one.func) in shown or follow.method(one) in ("item", "set_postfix", "info") for one in calls)


def _in_methods(source: Source) -> Iterator[Hit]:
    """`self.total += loss` in a method that makes one step and is called for each batch."""
    for call in source.methods("backward"):
        home = tree.function(source, call)
        if home is None or tree.loops(source, call) or tree.method_class(source, home) is None:
            continue
        done = identity(source, tree.receiver(call))
        looked = done is not None and not frameworks.owned(source, call)
        for node, target, value in kept.own_sums(source, home) if looked else ():
            if not kept.outlives(source, target, home) or no_grad_around(source, node):
                continue
            for leaf in kept.leaves(value):
                number = values.kind(source, leaf) and not values.sure(source, leaf, "tensor")
                if identity(source, leaf) == done and values.attached(source, leaf) is not False and not number:
                    yield _hit(source, node, target, leaf)


def _begins_again(source: Source, loop: tree.Loop, target: ast.expr | None) -> bool:
    """`total, hits = 0, 0` within the loop: it lives for the few batches between two steps."""
    name = tree.dotted(target) if target is not None else ""
    targets = (one.targets[0] for one in kept.assigns(source, loop))
    several = (one.elts for one in targets if isinstance(one, ast.Tuple))
    return any(tree.dotted(one) == name for elts in several for one in elts)


def _emptied_by_method(source: Source, loop: tree.Loop, target: ast.expr | None) -> bool:
    """`self.log["loss"] += loss`, and `self.report()`, which the loop calls, sets it to 0 again."""
    code = source.code(target) if target is not None else ""
    if not code.startswith("self."):
        return False
    ran = {
        one.func.attr
        for one in tree.body_nodes(loop)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
    }
    anew = (
        one for one in source.all(ast.Assign) if source.code(one.targets[0]) == code and tree.literal(one.value) == 0
    )
    return any(getattr(tree.function(source, one), "name", "") in ran for one in anew)


def _never_emptied(source: Source) -> Iterator[Hit]:
    """A list of an object that only grows, and is given what hangs on a graph."""
    for call in source.methods("append"):
        held = tree.receiver(call)
        held = held.value if isinstance(held, ast.Subscript) else held  # self.records["fit"].append(fit)
        cls = enclosing_class(source, call) if tree.dotted(held).startswith("self.") and call.args else None
        if cls is None or not isinstance(held, ast.Attribute) or no_grad_around(source, call):
            continue
        made = classes.assigned(cls, held.attr)
        plain = len(made) == 1 and made[0].method == "__init__" and _empty(source, made[0].value)
        if not plain or not _only_grows(source, held.attr) or frameworks.owned(source, call):
            continue
        if getattr(tree.function(source, call), "name", "") == "__init__":
            continue  # filled once, and gone with its object
        for leaf in _elements(call.args[0]):
            if values.attached(source, leaf) is True and not values.maybe(source, leaf, "parameter"):
                name = source.code(leaf)
                told = f"`{source.code(held)}` is never emptied and keeps the graph of every `{name}`: store `{name}.detach()`"
                yield source.hit(leaf, told, *edits.method(source, leaf, "detach()"), severity="warning")
                break


def _empty(source: Source, made: ast.expr | None) -> bool:
    """`[]`, `list()`, `deque(maxlen=1000)`, `{"fit": []}`, `defaultdict(list)`."""
    if isinstance(made, ast.Dict):
        return bool(made.values) and all(source.code(one) == "[]" for one in made.values)
    if isinstance(made, ast.Call) and source.name(made.func) == "collections.defaultdict":
        return len(made.args) == 1 and source.code(made.args[0]) == "list"
    queue = isinstance(made, ast.Call) and source.name(made.func) == "collections.deque"
    return made is not None and (source.code(made) in ("[]", "list()") or queue)


def _replayed(source: Source) -> Iterator[Hit]:
    """`memory.push(state, action, q.max())`: a memory that is sampled from keeps each transition for long."""
    if "sample(" not in source.text:
        return
    yield from _replayed_from_a_list(source)
    for call in source.methods("push", "add", "store", "append", "remember", "put", "save", "insert", "record"):
        inner = flow.called(source, call)
        if inner is None or inner.owner is None or inner.source is not source or no_grad_around(source, call):
            continue
        boxes = [one for one in tree.under(source, inner.owner, ast.Call) if follow.method(one) == "append"]
        boxes = [
            one
            for one in boxes
            if tree.function(source, one) is inner.node and tree.dotted(one.func).startswith("self.")
        ]
        names = {tree.dotted(tree.receiver(one)) for one in boxes}
        drawn = [one for one in source.calls("random.sample") if one.args and tree.dotted(one.args[0]) in names]
        for given in call.args if drawn else ():
            if values.attached(source, given) is True and not values.maybe(source, given, "parameter"):
                name = source.code(given)
                told = f"`{source.code(tree.receiver(call))}` keeps the graph of every `{name}` as long as the transition: store `{name}.detach()`"
                yield source.hit(given, told, *edits.method(source, given, "detach()"), severity="warning")


def _replayed_from_a_list(source: Source) -> Iterator[Hit]:
    """`memory.append((state, action, reward))` of a plain list or deque that `random.sample` draws from."""
    sampled = {tree.dotted(one.args[0]) for one in source.calls("random.sample") if one.args} - {""}
    for call in source.methods("append") if sampled else ():
        box = tree.receiver(call)
        whole = call.args[0] if len(call.args) == 1 and tree.dotted(box) in sampled else None
        made = scopes.reaching(source, box) if whole is not None and isinstance(box, ast.Name) else []
        if any(tree.loops(source, one.statement) for one in made if one.statement is not None):
            continue  # it begins anew in each turn, and the loss may want its graphs
        for given in _elements(whole) if whole is not None and not no_grad_around(source, call) else ():
            if values.attached(source, given) is True and not values.maybe(source, given, "parameter"):
                name = source.code(given)
                told = f"`{source.code(tree.receiver(call))}` keeps the graph of every `{name}` as long as the transition: store `{name}.detach()`"
                yield source.hit(given, told, *edits.method(source, given, "detach()"), severity="warning")


def _elements(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Tuple | ast.List):
        return node.elts
    return node.values if isinstance(node, ast.Dict) else [node]


def _only_grows(source: Source, name: str) -> bool:
    """Whether nobody empties, replaces or hands on the list, nor stacks what is in it for a loss."""
    for use in uses.attributes(source, name):
        up = source.parents[use]
        if isinstance(use.ctx, ast.Store) and _in_init(source, use):
            continue
        read = isinstance(up, ast.Attribute) and up.attr in ("append", "__len__")
        counted = isinstance(up, ast.Call) and source.name(up.func) in ("len", "random.sample")
        looked = isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Load) and not _emptied_at(source, up)
        looped = isinstance(up, ast.comprehension | ast.For) and _numbers_only(source, up)
        looped |= (
            isinstance(up, ast.Call) and source.name(up.func) in ("torch.stack", "sum") and _numbers_only(source, up)
        )
        if not (read or counted or looked or looped):
            return False
    return True


def _emptied_at(source: Source, place: ast.Subscript) -> bool:
    """`self.records[key].clear()`, or a loop that makes a loss of one entry."""
    up = source.parents[place]
    return isinstance(up, ast.Attribute) and up.attr in ("clear", "pop", "popleft", "copy")


def _in_init(source: Source, node: ast.AST) -> bool:
    home = tree.function(source, node)
    return home is not None and home.name == "__init__"


def _numbers_only(source: Source, loop: ast.AST) -> bool:
    """Whether a loop over the list makes numbers of it: `float(sum(...))`, `.item()`."""
    outer = [*tree.ancestors(source, loop)][:4]
    calls = (one for one in outer if isinstance(one, ast.Call))
    return any(source.name(one.func) in ("float", "len", "print") or follow.method(one) == "item" for one in calls)


def _over_chunks(source: Source, loop: tree.Loop) -> bool:
    """Whether the loop goes over parts of one batch: the loop around it is the one over the loader."""
    around = [one for one in tree.loops(source, loop) if isinstance(one, ast.For)]
    return any(values.sure(source, unwrapped(source, one.iter), "loader", weak=True) for one in around)


def _window(source: Source, loop: flow.LoopFlow) -> bool:
    """Whether the step comes right behind the loop, in the same function: a few batches that are accumulated."""
    home = tree.function(source, loop.node)
    end = loop.node.end_lineno or 0
    counted = isinstance(loop.node, ast.For) and "range" in source.code(loop.node.iter)
    if not counted or loop.of("step"):
        return False
    return any(event.what == "step" and getattr(event.at, "lineno", 0) > end for event in flow.events_of(source, home))


def _differentiated(source: Source, leaf: ast.expr, loop: flow.LoopFlow) -> bool:
    """Whether this very value is the one that `backward` was called on, whatever made it."""
    number = values.kind(source, leaf) and not values.sure(source, leaf, "tensor")
    if not isinstance(leaf, ast.Name) or values.attached(source, leaf) is False or number:
        return False
    mine = scopes.reaching(source, leaf)
    calls = [
        event.expr for event in loop.direct("backward") if isinstance(event.expr, ast.Name) and event.source is source
    ]
    return bool(mine) and any(one.id == leaf.id and scopes.reaching(source, one) == mine for one in calls)


def _holds(source: Source, leaf: ast.expr, loop: flow.LoopFlow) -> bool:
    """`losses`, an entry of which was differentiated in this turn: `losses["all"].backward()`."""
    mine = scopes.reaching(source, leaf) if isinstance(leaf, ast.Name) else []
    calls = [event.expr for event in loop.direct("backward") if event.source is source]
    boxes = [one.value for one in calls if isinstance(one, ast.Subscript)]
    return bool(mine) and any(isinstance(one, ast.Name) and scopes.reaching(source, one) == mine for one in boxes)


def _is_entry(source: Source, leaf: ast.expr, loop: flow.LoopFlow) -> bool:
    """`output[self.metric]`, the very entry of the very dictionary that `backward` was called on."""
    box = leaf.value if isinstance(leaf, ast.Subscript) else None
    mine = scopes.reaching(source, box) if isinstance(box, ast.Name) else []
    if not mine or _emptied_here(source, box or leaf):
        return False
    calls = [event.expr for event in loop.direct("backward") if isinstance(event.expr, ast.Subscript)]
    same = [one.value for one in calls if source.code(one) == source.code(leaf)]
    return any(isinstance(one, ast.Name) and scopes.reaching(source, one) == mine for one in same)


def _hit(source: Source, node: ast.AST, target: ast.expr | None, leaf: ast.expr) -> Hit:
    name, total = source.code(leaf), source.code(target) if target is not None else ""
    asked = any(tree.dotted(one.value) == total for one in source.all(ast.Attribute) if isinstance(one.ctx, ast.Load))
    number = values.shape(source, leaf) == () and (not asked or isinstance(node, ast.Call))
    cut = "item()" if number else "detach()"
    message = f"`{total}` keeps the graph of every `{name}` in memory: add `{name}.{cut}`"
    return source.hit(node, message, *edits.method(source, leaf, cut))
