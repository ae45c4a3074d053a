"""The rule of state-dict-alias."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, flow, follow, kept, project, scopes, tree, uses, values
from torchlore.check.identity import identity
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_AVERAGE = regex(r"shadow|ema|avg|averag|mean|swa|smooth")
_SECOND = regex(r"shadow|ema|avg|averag|mean|swa|smooth|slow|target|teacher|momentum")
WORDS = ("state_dict",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_given_back(source), *_starts_again(source), *_averaged(source))
    held = {one: variable for one in source.methods("state_dict") if (variable := _held(source, one)) is not None}
    for loop in flow.loops(source) if held else ():
        if not loop.of("step"):
            continue
        for event in loop.of("state"):
            call = event.node if event.source is source else None
            if not isinstance(call, ast.Call) or call not in held:
                continue
            if event.loops[0] is not loop.node and tree.loops(source, loop.node):
                continue  # the outer loop says it
            yield _hit(source, call, held[call])


def _held(source: Source, call: ast.Call) -> ast.expr | None:
    """The variable that holds the live tensors, and is read later."""
    variable = kept.variable(source, call)
    if variable is None or not flow.may_train(source):
        return None
    alone = _one_each(source, call) or _over(source, call) or _leaves(source, call)
    alone = alone or _saved_alone(source, call) or _new_each_turn(source, call)
    if alone or _pickled(source, variable) or _made_this_turn(source, variable, call):
        return None
    read = _read_later(source, variable, call) and _of_model(source, call) and kept.steps_on(source, variable)
    return variable if read else None


def _starts_again(source: Source) -> Iterator[Hit]:
    """`fresh = net.state_dict()` before a loop over folds that loads it into the same net and trains that on."""
    again = [one for one in source.methods("load_state_dict") if one.args and isinstance(one.args[0], ast.Name)]
    for call in source.methods("state_dict") if again else ():
        held = source.parents[call]
        name = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
        if not isinstance(name, ast.Name):
            continue
        loops = tree.loops(source, call)
        for load in again:
            given, around = load.args[0], tree.loops(source, load)
            same = isinstance(given, ast.Name) and [one.node for one in scopes.reaching(source, given)] == [name]
            if not same or len(around) <= len(loops):
                continue
            if not values.sure(source, tree.receiver(call), "module", weak=True):
                break
            net = identity(source, tree.receiver(load))
            if net is None or net != identity(source, tree.receiver(call)):
                continue
            turns = [one for one in flow.loops(source) if one.node is around[0]]
            if any(one.of("step") for one in turns):
                yield _hit(source, call, name)
                break


def _averaged(source: Source) -> Iterator[Hit]:
    """`shadow = net.state_dict()`, of which `shadow[k].mul_(d).add_(...)` makes an average: of the net with itself."""
    moves = list(source.methods("mul_", "lerp_"))
    for call in source.methods("state_dict") if moves else ():
        held = source.parents[call]
        target = held.targets[0] if isinstance(held, ast.Assign) and held.value is call else None
        net = tree.receiver(call)
        if not isinstance(target, ast.Name | ast.Attribute) or _SECOND.search(tree.dotted(net).rpartition(".")[2]):
            continue
        name = tree.dotted(target)
        named = _AVERAGE.search(name.rpartition(".")[2]) is not None
        own = isinstance(target, ast.Attribute)
        for move in moves if named and values.sure(source, net, "module", weak=True) else ():
            entry = tree.receiver(move)
            shadow = entry.value if isinstance(entry, ast.Subscript) else None
            here = own or tree.function(source, move) is tree.function(source, call)
            if shadow is None or tree.dotted(shadow) != name or not here or not tree.loops(source, move):
                continue
            if _held_once(source, target, own=own) and (own or _of_the_same(source, move, net)):
                yield _hit(source, call, target)
                break


def _of_the_same(source: Source, move: ast.Call, net: ast.expr) -> bool:
    """Whether the loop around goes over the weights of the net whose state was taken."""
    over = [one.iter for one in tree.loops(source, move) if isinstance(one, ast.For)]
    code = source.code(net)
    return any(code == source.code(tree.receiver(one)) for part in over for one in ast.walk(part)
               if isinstance(one, ast.Call) and follow.method(one) in ("state_dict", "named_parameters", "parameters"))  # fmt: skip


def _held_once(source: Source, target: ast.Name | ast.Attribute, *, own: bool) -> bool:
    """Whether nothing else is put into it: no copy takes its place."""
    last = tree.dotted(target).rpartition(".")[2]
    home = tree.function(source, target)
    same = (
        uses.attributes(source, last)
        if own
        else [one for one in uses.names(source, last) if tree.function(source, one) is home]
    )
    return sum(isinstance(one.ctx, ast.Store) for one in same) == 1


def _one_each(source: Source, call: ast.Call) -> bool:
    """`states[i] = nets[i].state_dict()` over `i`: every turn has a net of its own."""
    net, loops = tree.receiver(call), tree.loops(source, call)
    index = tree.dotted(net.slice) if isinstance(net, ast.Subscript) else ""
    return bool(index) and any(isinstance(one, ast.For) and tree.dotted(one.target) == index for one in loops)


def _new_each_turn(source: Source, call: ast.Call) -> bool:
    """`local = Net()` or `deepcopy(net)` in the very turn that keeps `local.state_dict()`: the next one trains another net."""
    net, turn = tree.receiver(call), tree.loops(source, call)[:1]
    bound = _before_moves(source, net) if isinstance(net, ast.Name) and turn else []
    new = [one.statement for one in bound if one.value is not None and _is_another(source, one.name, one.value)]
    return bool(new) and len(new) == len(bound) and all(tree.loops(source, one)[:1] == turn for one in new)


def _before_moves(source: Source, net: ast.Name) -> list[scopes.Binding]:
    """What gives a name its value, but for `net = net.to(device)`."""
    bound = scopes.reaching(source, net)
    inner = follow.peeled(bound[0].value, ("to", "cuda", "cpu", "eval")) if len(bound) == 1 and bound[0].value else None
    again = isinstance(inner, ast.Name) and inner.id == net.id and inner is not bound[0].value
    return scopes.reaching(source, inner) if again and isinstance(inner, ast.Name) else bound


def _is_another(source: Source, name: str, value: ast.expr) -> bool:
    """Whether a call makes it, and not of itself: `net = trained(net)` may be the same."""
    itself = any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value))
    return isinstance(value, ast.Call) and (not itself or _copies(source, value))


def _copies(source: Source, value: ast.expr) -> bool:
    return any(source.name(one.func) == "copy.deepcopy" for one in ast.walk(value) if isinstance(one, ast.Call))


def _made_this_turn(source: Source, variable: ast.expr, call: ast.Call) -> bool:
    """`states = {...}` and `states["net"] = net.state_dict()` in one turn of the loop: the next has a dictionary of its own."""
    up = source.parents[call]
    target = up.targets[0] if isinstance(up, ast.Assign) else None
    held = target.value if isinstance(target, ast.Subscript) else None
    bound = scopes.reaching(source, held) if isinstance(held, ast.Name) and tree.dotted(variable) == held.id else []
    loops = tree.loops(source, bound[0].statement)[:1] if bound else []  # the turn that makes it
    inner = (
        [one for one in tree.loops(source, call) if one not in tree.loops(source, bound[0].statement)] if bound else []
    )
    if any(".step(" in source.code(one) for one in inner):
        return False
    new = [one for one in bound if _is_new(source, one.value)]
    fresh = [one for one in new if tree.loops(source, one.statement)[:1] == loops]
    home = tree.function(source, call) or source.tree
    reads = [one for one in tree.under(source, home, ast.Name) if held is not None and one.id == tree.dotted(held)]
    here = bool(loops) and all(tree.inside(source, one, loops[0]) for one in reads)  # nobody reads it after the loop
    return here and bool(bound) and len(fresh) == len(bound)


def _saved_alone(source: Source, call: ast.Call) -> bool:
    """`states = {}`, `states[name]["optimizer"] = ...` and `torch.save(states, path)`: it does not leave the function."""
    up, home = source.parents[call], tree.function(source, call)
    whole = up if isinstance(up, ast.Dict) else None  # `states = {"model": ...}`
    up = source.parents[up] if whole is not None else up
    held = up.targets[0] if isinstance(up, ast.Assign) else None
    while isinstance(held, ast.Subscript):
        held = held.value
    bound = scopes.reaching(source, held) if whole is None and isinstance(held, ast.Name) and home is not None else []
    if whole is not None and isinstance(held, ast.Name):
        bound = [
            one for one in scopes.bound(source, held.id).get(scopes.scope_of(source, held), []) if one.value is whole
        ]
    if not bound or home is None or not all(one.value is whole or _is_new(source, one.value) for one in bound):
        return False
    same = (one for one in tree.under(source, home, ast.Name) if one.id == bound[0].name)
    if whole is not None:  # the name may have meant a batch before
        same = (one for one in same if any(found.value is whole for found in scopes.reaching(source, one)))
    ups = [source.parents[one] for one in same if isinstance(one.ctx, ast.Load)]
    saved = [one for one in ups if isinstance(one, ast.Call) and source.name(one.func) == "torch.save"]
    return bool(saved) and all(isinstance(one, ast.Subscript) or one in saved for one in ups)


def _is_new(source: Source, made: ast.expr | None) -> bool:
    """`{}`, `dict()`, `OrderedDict()`."""
    called = source.name(made.func).rpartition(".")[2] if isinstance(made, ast.Call) else ""
    return isinstance(made, ast.Dict) or called in ("dict", "OrderedDict")


def _pickled(source: Source, variable: ast.expr) -> bool:
    """What goes into `Manager().dict()` is pickled on its way to the manager's process."""
    cls = project.enclosing_class(source, variable) if tree.dotted(variable).startswith("self.") else None
    held = [one.value for one in classes.assigned(cls, tree.dotted(variable)[5:])] if cls is not None else []
    made = [*held, follow.binding(source, variable)]
    return any(isinstance(one, ast.Call) and follow.method(one) == "dict" for one in made)


def _leaves(source: Source, call: ast.Call) -> bool:
    """`if stopped: self.state = net.state_dict(); return False` in the function that trains: no step follows."""
    held, home = tree.statement(source, call), tree.function(source, call)
    block: list[ast.stmt] = getattr(source.parents[held], "body", [])
    last = block[-1] if held in block else None
    return isinstance(last, ast.Return) and home is not None and _trains(source, home) and block is not home.body


def _over(source: Source, call: ast.Call) -> bool:
    """A net that this function makes, and trains no more: who calls it again gets another."""
    home, net = tree.function(source, call), tree.receiver(call)
    if home is None or not isinstance(net, ast.Name) or tree.loops(source, call):
        return False
    bound = scopes.reaching(source, net)
    made = bool(bound) and all(one.how == "assign" and isinstance(one.value, ast.Call) for one in bound)
    later = (one for one in tree.under(source, home, ast.Call) if one.lineno > call.lineno)
    return made and not any(follow.method(one) in ("step", "backward", "train", "fit") for one in later)


def _of_model(source: Source, call: ast.Call) -> bool:
    model = tree.receiver(call)
    return values.sure(source, model, "module", weak=True) or not values.kind(source, model, weak=True)


def _read_later(source: Source, variable: ast.expr, call: ast.Call) -> bool:
    """Whether somebody reads the variable after more steps: outside the block that fills it, or above it in a loop."""
    same, block = tree.dotted(variable), source.parents[_begun(source, variable, call)]
    while isinstance(block, ast.If) and all(_fills(part, same) for part in (block.body, block.orelse)):
        block = source.parents[block]  # either branch fills it anew
    owner, last = identity(source, variable), same.rpartition(".")[2]
    places: list[ast.Name | ast.Attribute] = [*uses.names(source, last)]
    places += uses.attributes(source, last) if last else source.all(ast.Attribute)
    for node in places:
        if not isinstance(node.ctx, ast.Load) or tree.dotted(node).rpartition(".")[2] != last:
            continue
        if _handed(source, node, variable) or _this_turn(source, node, call) or _at_the_end(source, node, call):
            continue
        at_once = tree.inside(source, node, block) and node.lineno >= call.lineno
        at_once = at_once and not follow.exclusive(source, call, node)  # `else:` is of another turn
        up = source.parents[node]
        asked = isinstance(up, ast.Attribute | ast.Compare) and not _loaded(source, up)
        if not at_once and not asked and identity(source, node) == owner and _may_hold(source, node, call):
            return True
    return False


def _fills(part: list[ast.stmt], name: str) -> bool:
    """Whether a branch gives the variable a value of its own."""
    return any(isinstance(one, ast.Assign) and tree.dotted(one.targets[0]) == name for one in part)


def _loaded(source: Source, node: ast.AST) -> bool:
    """`net.load_state_dict(best.state)`: a field of what holds it."""
    call = source.parents[node]
    return isinstance(call, ast.Call) and node in call.args and follow.method(call) in ("load_state_dict", "save")


def _this_turn(source: Source, node: ast.expr, call: ast.Call) -> bool:
    """Read in the turn that fills it, by whichever branch: `if a: state = ... else: state = ...`, then `save(state)`."""
    loops = tree.loops(source, call)[:1]
    bound = (
        scopes.reaching(source, node) if isinstance(node, ast.Name) and tree.loops(source, node)[:1] == loops else []
    )
    filled = bool(bound) and all(
        tree.loops(source, one.statement)[:1] == loops and getattr(one.node, "lineno", 0) < node.lineno for one in bound
    )
    steps = (one.lineno for one in source.methods("step"))
    return filled and not any(call.lineno < line < node.lineno for line in steps)


def _at_the_end(source: Source, node: ast.expr, call: ast.Call) -> bool:
    """Bound at the end of every turn and saved behind the loop: no step comes between."""
    held, up = tree.statement(source, call), source.parents[node]
    loop, saved = source.parents[held], isinstance(up, ast.Call) and source.name(up.func) == "torch.save"
    if not isinstance(held, ast.Assign) or not isinstance(loop, tree.Loop) or not saved:
        return False
    steps = (one.lineno for one in source.methods("step", "backward"))
    return node.lineno > call.lineno and not any(call.lineno < line < node.lineno for line in steps)


def _handed(source: Source, node: ast.expr, variable: ast.expr) -> bool:
    """A parameter of another function: it is read when that function is called, which counts by itself."""
    bound = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    away = tree.function(source, node) is not tree.function(source, variable)
    return away and bool(bound) and all(one.how == "parameter" for one in bound)


def _begun(source: Source, variable: ast.expr, call: ast.Call) -> ast.stmt:
    """The statement that fills the variable, or the one that made it anew in the same turn of the loop."""
    here = tree.statement(source, call)
    bound = scopes.reaching(source, variable) if isinstance(variable, ast.Name) else ()
    made = bound[0].statement if len(bound) == 1 else None
    same_turn = isinstance(made, ast.Assign) and tree.loops(source, made)[:1] == tree.loops(source, here)[:1]
    return made if isinstance(made, ast.Assign) and same_turn and tree.loops(source, made) else here


def _may_hold(source: Source, node: ast.expr, call: ast.Call) -> bool:
    """Whether a variable read here can still hold what was put into it there."""
    if not isinstance(node, ast.Name):
        return True
    put = any(tree.inside(source, call, one.statement) for one in scopes.reaching(source, node))
    bound = isinstance(up := tree.statement(source, call), ast.Assign) and isinstance(up.targets[0], ast.Name)
    return put or (not bound and values.sure(source, node, "list", "dict"))  # one that is filled later


def _hit(source: Source, call: ast.Call, variable: ast.expr) -> Hit:
    message = (
        f"`{source.code(variable)}` holds the live tensors and follows every later step: copy.deepcopy(...) keeps them"
    )
    imported = edits.add_import(source, "import copy") if "copy" not in source.names.imported else None
    fix = [*edits.wrap(source, call, "copy.deepcopy("), *([imported] if imported else [])]
    return source.hit(call, message, *fix, severity="warning")  # it may be read before the next step


def _given_back(source: Source) -> Iterator[Hit]:
    """A function trains the net it is given and returns `net.state_dict()`; its caller puts one after the other into a list."""
    for call in source.methods("state_dict"):
        place, net = _place_in_return(source, call), tree.receiver(call)
        home = tree.function(source, call) if place is not None and isinstance(net, ast.Name) else None
        if home is None or place is None or not isinstance(net, ast.Name) or not _trains(source, home):
            continue
        if not flow.may_train(source):
            return
        function = project.as_function(source, home)
        own = [one for one in tree.parameters(home) if one.arg == net.id]
        for other, made, skip in calls.callers(function) if own else ():
            given = calls.given_argument(function, made, own[0], skip)
            one = other is source and given is not None and _one_net_for_all(source, given, made)
            target = _collected(source, made, place) if one else None
            if target is not None:
                told = f"`{target}` collects the live tensors of one net, all of them those of the last turn: copy.deepcopy(...) keeps them"
                yield source.hit(call, told, *edits.wrap(source, call, "copy.deepcopy("), safe=False)
                break


def _place_in_return(source: Source, call: ast.Call) -> tuple[int, ...] | None:
    """() for `return net.state_dict()`, (0,) for `return net.state_dict(), loss`."""
    up = source.parents[call]
    if isinstance(up, ast.Return):
        return ()
    inside = isinstance(up, ast.Tuple) and isinstance(source.parents[up], ast.Return)
    return (up.elts.index(call),) if inside and isinstance(up, ast.Tuple) else None


def _trains(source: Source, home: ast.AST) -> bool:
    return any(
        isinstance(one.func, ast.Attribute) and one.func.attr == "backward"
        for one in tree.under(source, home, ast.Call)
    )


def _one_net_for_all(source: Source, given: ast.expr, made: ast.Call) -> bool:
    """Whether a plain name is passed that was bound before the loop."""
    loops = tree.loops(source, made)
    if not loops or not isinstance(given, ast.Name | ast.Attribute):
        return False
    bound = scopes.reaching(source, given) if isinstance(given, ast.Name) else []
    return not any(tree.inside(source, one.statement, loops[0]) for one in bound)


def _collected(source: Source, made: ast.Call, place: tuple[int, ...]) -> str | None:
    """The list that gets the state in the loop around the call, by `append`."""
    statement = tree.statement(source, made)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is made else None
    if place and isinstance(target, ast.Tuple) and len(target.elts) > place[0]:
        target = target.elts[place[0]]
    loop = tree.loops(source, made)[0]
    for one in tree.under(source, loop, ast.Call):
        adds = isinstance(one.func, ast.Attribute) and one.func.attr == "append" and len(one.args) == 1
        same = adds and (
            one.args[0] is made if target is None else tree.dotted(one.args[0]) == tree.dotted(target) != ""
        )
        if same and isinstance(one.func, ast.Attribute):
            return source.code(one.func.value)
    return None
