"""The rule of bootstrap-target-attached."""

import ast
import itertools
import re
from collections.abc import Iterator

from torchlore.check import (
    api,
    averages,
    classes,
    flow,
    follow,
    grouped,
    identity,
    losses,
    project,
    scopes,
    tensors,
    terms,
    tree,
    uses,
    values,
)
from torchlore.check.calls import callers
from torchlore.check.calls import returned as calls_returned
from torchlore.check.origin import behind
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_DISCOUNT = regex(r"^(gamma|discount\w*|disc)_?$", re.IGNORECASE)
_SQUARE = regex(r"\*\* *2|\.pow\(2\)|\.square\(")
_NAME = regex(r"\w[\w.]*$")
_OLD = regex(r"(^|_)(old|prev|behaviou?r)", re.IGNORECASE)
_LABEL = regex(r"pseudo|teacher|target|guess|soft_?label|weak", re.IGNORECASE)
_TEACHER = regex(r"teacher|momentum_|ema_(?:model|net)", re.IGNORECASE)
_LOSSES = ("MSELoss", "mse_loss", "SmoothL1Loss", "smooth_l1_loss", "HuberLoss", "huber_loss", "L1Loss", "l1_loss")


def find(source: Source) -> Iterator[Hit]:
    yield from (*_ratios(source), *_soft_labels(source), *_taught(source), *_averaged(source), *_siamese(source))
    if not uses.says(source, "gamma", "discount", "next", "0.9") or not _may_discount(source):
        return
    pairs = [(one.input, one.target) for one in losses.loss_calls(source, *_LOSSES)]
    if any(word in source.text for word in ("**", ".pow(", ".square(")) and _SQUARE.search(source.text):
        squares = set(_squares(source.text))
        pairs += [
            (one.right, one.left) for one in grouped.operations(source, ast.Sub) if _squared(source, one, squares)
        ]
    for value, target in pairs:
        for first, second in ((value, target), (target, value)):
            later = _own_estimate(source, first, second) if first is not None and second is not None else None
            held = source.parents.get(later) if later is not None else None
            many = held.targets[0] if isinstance(held, ast.Assign) else None
            batch = isinstance(many, ast.Tuple) and len(many.elts) > 3  # what was played, from a memory
            if later is not None and not batch:
                told = f"the target follows the trained weights: put `{source.code(later)}` under torch.no_grad() or detach it"
                yield source.hit(later, told)
                break


def _may_discount(source: Source) -> bool:
    """Whether a name or a number of the file may be a discount; `next` stands for many things."""
    numbers = (one.value for one in source.all(ast.Constant) if one.value.__class__ is float)
    return uses.says(source, "gamma", "disc") or any(0.8 <= one < 1 for one in numbers)


def _ratios(source: Source) -> Iterator[Hit]:
    """`exp(new - old)`, where the old log-probabilities still have their graph."""
    found = [*source.calls("torch.exp"), *source.methods("exp")]
    for call in found if found and uses.says(source, "old") else ():
        inside = call.args[0] if call.args else tree.receiver(call)
        gap = follow.followed(source, inside)
        old = gap.right if isinstance(gap, ast.BinOp) and isinstance(gap.op, ast.Sub) else None
        if not isinstance(old, ast.Name | ast.Attribute) or not _OLD.search(tree.dotted(old).rpartition(".")[2]):
            continue
        kept = scopes.reaching(source, old) if isinstance(old, ast.Name) else []
        if any(one.value is not None and ".detach()" in source.code(one.value) for one in kept):
            continue
        made = next((one for one in terms.reached(source, old) if _learns(source, one)), None)
        if made is not None:
            told = f"`{source.code(old)}` has its graph and follows the trained weights, so the ratio's gradient is wrong or zero: detach it"
            yield source.hit(made, told)


def _learns(source: Source, call: ast.Call) -> bool:
    """Whether a module, or a method of one, is called with its graph."""
    part = call.func.value if isinstance(call.func, ast.Attribute) else call.func
    if any(one.arg is not None and _OLD.search(one.arg) for one in call.keywords):
        return False  # `policy(states, old=True)` asks the weights that were put aside
    if not (values.sure(source, call.func, "module") or values.sure(source, part, "module")):
        return False
    inner = flow.called(source, call)
    return inner is None or not tensors.no_grad_around(inner.source, inner.node.body[0])


def _soft_labels(source: Source) -> Iterator[Hit]:
    """A pseudo label that the net in training gives itself, and that is not cut from its graph."""
    if "softmax" not in source.text and "sigmoid" not in source.text and not source.names.stars:
        return
    for one in losses.loss_calls(source, *_LOSSES, "kl_div", "KLDivLoss", "cross_entropy", "CrossEntropyLoss"):
        named = tree.dotted(one.target).rpartition(".")[2] if one.target is not None else ""
        if one.input is None or one.target is None or not _LABEL.search(named):
            continue
        given = list(terms.reached(source, one.target))
        soft = next((call for call in given if _is_soft(source, call)), None)
        mine = {_module(source, call) for call in terms.reached(source, one.input) if soft is not None} - {None}
        if soft is not None and any(_module(source, call) in mine for call in given):
            told = f"`{named}` follows the trained weights, so the loss also moves the label: detach it, or make it under torch.no_grad()"
            yield source.hit(soft, told)


def _taught(source: Source) -> Iterator[Hit]:
    """A teacher that is called with its graph and is given to the student's optimizer: the loss moves both."""
    walks = list(source.methods("parameters"))
    said = len(walks) > 1 and uses.says(source, "teacher", "momentum_", "ema_model", "ema_net")
    if not said or not flow.may_train(source):
        return
    held: set[object] = set()
    for call, full in uses.calls_under(source, "torch.optim."):
        nets = [tree.receiver(one) for one in tree.under(source, call, ast.Call) if follow.method(one) == "parameters"]
        if api.kind_of_call(full) == "optimizer" and len({source.code(one) for one in nets}) > 1:
            named = (one for one in nets if _TEACHER.search(tree.dotted(one).rpartition(".")[2]))
            held |= {identity.identity(source, one) for one in named}
    for turn in flow.rounds(source) if held - {None} else ():
        student = any(one.what == "forward" and one.owner not in held for one in turn)
        for event in turn if student else ():  # else the teacher itself is trained
            inside = event.what == "forward" and not event.no_grad and event.source is source
            if inside and event.owner in held and event.owner is not None and not _cut_later(source, event.node):
                code = source.code(event.expr) if event.expr is not None else "teacher"
                told = f"`{code}` is in the optimizer and called with its graph, so the loss pulls it towards the student: call it under torch.no_grad()"
                yield source.hit(event.node, told)


def _averaged(source: Source) -> Iterator[Hit]:
    """`self.target(x)` with its graph, where `self.target` follows `self.online` and the optimizer holds both."""
    walked = any(source.methods("parameters")) and "zip(" in source.text
    if not walked or "requires_grad" in source.text or not flow.may_train(source):
        return
    for one in averages.averages(source):
        owner, name = _home(source, one.average)
        if owner is None or not name.startswith("self.") or not _held_whole(source, owner):
            continue
        for call in tree.under(source, owner.node, ast.Call):
            if tree.dotted(call.func) == name and not _cut_off(source, call):
                told = f"`{name}` is an average of `{source.code(one.model)}`, and the optimizer holds it: with its graph the loss trains it as well; call it under torch.no_grad()"
                yield source.hit(call, told)
                break


def _home(source: Source, average: ast.expr) -> tuple[project.Class | None, str]:
    """The class of which the average is an attribute, and `self.average`: also where a function is given the whole."""
    if tree.dotted(average).startswith("self.") or not isinstance(average, ast.Attribute):
        return project.enclosing_class(source, average), tree.dotted(average)
    found = [classes.class_behind(source, value) for value in source.values(average.value)]
    return (found[0], f"self.{average.attr}") if len(found) == 1 else (None, "")


def _held_whole(source: Source, owner: project.Class) -> bool:
    """Whether an optimizer is given all parameters of an instance of this class."""
    for call, full in uses.calls_under(source, "torch.optim."):
        given = follow.followed(source, call.args[0]) if call.args and api.kind_of_call(full) == "optimizer" else None
        if isinstance(given, ast.Call) and source.name(given.func) == "list" and given.args:
            given = given.args[0]
        if not isinstance(given, ast.Call) or follow.method(given) != "parameters":
            continue
        net = tree.receiver(given)
        if any(classes.class_behind(source, value) == owner for value in source.values(net)):
            return True
    return False


def _cut_off(source: Source, call: ast.Call) -> bool:
    """Whether the result has no graph, is cut from it later, or goes where it cannot be followed."""
    home, statement = tree.function(source, call), tree.statement(source, call)
    if home is None or tensors.no_grad_around(source, call) or "detach" in source.code(statement):
        return True
    around = callers(project.as_function(source, home))
    if any(tensors.no_grad_around(where, one) for where, one, _ in around) or not isinstance(statement, ast.Assign):
        return True
    names = {one.id for target in statement.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return not names or any(_detached(source, one) for one in tree.under(source, home, ast.Name) if one.id in names)


def _detached(source: Source, use: ast.Name) -> bool:
    """`t.detach()`, `t.data`, or a function of the project that does so with what it is given; None of it is `return t`."""
    up = source.parents[use]
    if isinstance(up, ast.Attribute):
        return up.attr in ("detach", "data", "argmax", "max")
    if isinstance(up, ast.Return | ast.Tuple) and isinstance(use.ctx, ast.Load):
        return True
    inner = flow.called(source, up) if isinstance(up, ast.Call) else None
    return inner is not None and (
        "detach" in inner.source.code(inner.node) or "no_grad" in inner.source.code(inner.node)
    )


def _siamese(source: Source) -> Iterator[Hit]:
    """`D(p1, z2) + D(p2, z1)` with `p = predictor(z)`: without a detached `z` everything becomes one point."""
    if not uses.says(source, "predict", "cosine"):
        return
    seen: set[ast.AST] = set()
    for whole in grouped.operations(source, ast.Add):
        up = source.parents[whole]
        if isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add):
            continue
        calls = [one for one, _ in terms.terms(source, whole) if isinstance(one, ast.Call) and _of_names(one)]
        for one, other in itertools.combinations(calls, 2):
            crossed = (
                ast.dump(one.args[1]) != ast.dump(other.args[1])
                and _predicts(source, one.args[0], other.args[1])
                and _predicts(source, other.args[0], one.args[1])
            )
            place = _open_end(source, one) if crossed and ast.dump(one.func) == ast.dump(other.func) else None
            back = _returned_name(source, other.args[1]) if isinstance(other.args[1], ast.Name) else None
            cut = "detach the second argument"
            if place is not None and back is not None and back[0] is source:
                place, cut = back[1], f"return `{back[1].id}.detach()`"
            if place is not None and place not in seen:
                seen.add(place)
                told = f"both branches get this gradient, and the representations collapse into one: {cut}"
                yield source.hit(place, told)


def _of_names(call: ast.Call) -> bool:
    return len(call.args) > 1 and isinstance(call.args[0], ast.Name) and isinstance(call.args[1], ast.Name)


def _predicts(source: Source, node: ast.expr, given: ast.expr) -> bool:
    """Whether `node` is `predictor(given)`, here or in the model that returns both."""
    if not isinstance(node, ast.Name) or not isinstance(given, ast.Name):
        return False
    there = _returned_name(source, node), _returned_name(source, given)
    if there[0] is not None and there[1] is not None and there[0][0] is there[1][0]:
        return _predicts(there[0][0], there[0][1], there[1][1])
    found = scopes.reaching(source, node)
    value = scopes.part(found[0]) if len(found) == 1 else None
    first = value.args[0] if isinstance(value, ast.Call) and len(value.args) == 1 else None
    return isinstance(first, ast.Name) and first.id == given.id


def _returned_name(source: Source, name: ast.Name) -> tuple[Source, ast.Name] | None:
    """The name that the project's function returns at the place from which `p, z = model(x)` takes this one."""
    found = scopes.reaching(source, name)
    one = found[0] if len(found) == 1 and len(found[0].path) == 1 else None
    inner = behind(source, one.value) if one is not None and isinstance(one.value, ast.Call) else None
    given = calls_returned(inner) if inner is not None else []
    if one is None or inner is None or len(given) != 1 or not isinstance(given[0], ast.Tuple):
        return None
    elts, at = given[0].elts, one.path[0]
    part = elts[at] if 0 <= at < len(elts) else None
    return (inner.source, part) if isinstance(part, ast.Name) else None


def _open_end(source: Source, call: ast.Call) -> ast.AST | None:
    """Where the distance lets the gradient into its second argument; None where it is detached."""
    inner = flow.called(source, call)
    if inner is None:
        made = values.made_by(source, call.func, "torch.nn.CosineSimilarity", "torch.nn.MSELoss")
        return call if made is not None or source.name(call.func).startswith("torch.") else None
    names = [arg.arg for arg in tree.parameters(inner.node) if arg.arg != "self"]
    for back in calls_returned(inner) if len(names) > 1 and inner.source is source else ():
        used = [one for one in tree.under(source, back, ast.Name) if one.id == names[1]]
        bound = [one for use in used for one in scopes.reaching(source, use)]
        cut = any(
            isinstance(up := source.parents[use], ast.Attribute) and up.attr in ("detach", "data") for use in used
        )
        if used and not cut and all(one.how == "parameter" for one in bound):
            return back
    return None


def _cut_later(source: Source, node: ast.AST) -> bool:
    """Whether the result is detached where it is made, or by its name somewhere."""
    up = source.parents[node]
    if isinstance(up, ast.Attribute):
        return up.attr in ("detach", "data", "argmax")
    statement = tree.statement(source, node)
    name = tree.dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    inside = source.code(statement).count("detach") + source.code(statement).count(".argmax")
    return not name or inside > 0 or f"{name}.detach" in source.text or f"{name}.data" in source.text


def _module(source: Source, call: ast.Call) -> object:
    called = isinstance(call.func, ast.Name | ast.Attribute) and values.sure(source, call.func, "module", weak=True)
    return identity.identity(source, call.func) if called else None


def _is_soft(source: Source, call: ast.Call) -> bool:
    return source.name(call.func).rpartition(".")[2] in ("softmax", "sigmoid") or follow.method(call) in (
        "softmax",
        "sigmoid",
    )


def _own_estimate(source: Source, value: ast.expr, target: ast.expr) -> ast.Call | None:
    """The call in the target, discounted and with its graph, of a net that also gives the value."""
    products = [one for one in _discounts(source, target) if not tensors.no_grad_around(source, one)]
    mine = {_net(source, call) for call in terms.reached(source, value)} - {None} if products else set()
    for product in products if mine else ():
        for call in terms.reached(source, product):
            aside = any(one.arg is not None and "target" in one.arg for one in call.keywords)  # use_target=True
            if _net(source, call) in mine and not aside:
                return call
    return None


def _discounts(source: Source, target: ast.expr) -> list[ast.BinOp]:
    """`gamma * later` of `reward + gamma * later`."""
    return [one for one in _products(source, target) if _discounted(one)]


def _products(source: Source, node: ast.expr, hops: int = 6) -> Iterator[ast.BinOp]:
    """The products that a sum is made of, through names and reshapes."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from (*_products(source, node.left, hops), *_products(source, node.right, hops))
    elif isinstance(node, ast.BinOp):
        yield node
    elif isinstance(node, ast.Name) and hops and (value := follow.binding(source, node)) is not None:
        yield from _products(source, value, hops - 1)
    elif isinstance(node, ast.Call) and follow.method(node) in (
        "unsqueeze",
        "squeeze",
        "view",
        "reshape",
        "float",
        "to",
    ):
        yield from _products(source, tree.receiver(node), hops)


def _net(source: Source, call: ast.Call) -> object:
    """The net that a call runs: a module, or a method of the module the code stands in."""
    if isinstance(call.func, ast.Name) and not values.kind(source, call.func) and _is_parameter(source, call.func):
        return identity.identity(source, call.func)  # of whoever calls this
    if not isinstance(call.func, ast.Name | ast.Attribute) or not values.maybe(source, call.func, "module", "function"):
        return None
    if isinstance(call.func, ast.Attribute) and call.func.attr == "forward":
        return identity.identity(source, call.func.value)
    method = tree.dotted(call.func).startswith("self.") and tree.dotted(call.func).count(".") == 1
    own = values.sure(source, call.func, "module", weak=True) or method
    return identity.identity(source, call.func) if own else None


def _is_parameter(source: Source, name: ast.Name) -> bool:
    bound = scopes.reaching(source, name)
    return bool(bound) and all(one.how == "parameter" for one in bound)


def _discounted(term: ast.AST) -> bool:
    """Whether a factor is called gamma or discount, or is a number a little below 1."""
    parts = [node for node in ast.walk(term) if isinstance(node, ast.Name | ast.Attribute | ast.Constant)]
    names = [tree.dotted(node).rpartition(".")[2] for node in parts]
    numbers = [node.value for node in parts if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    return any(_DISCOUNT.match(name) for name in names) or any(0.8 <= number < 1 for number in numbers)


def _squares(text: str) -> Iterator[str]:
    """`self.delta` of `self.delta ** 2`, wherever something is squared."""
    for square in _SQUARE.finditer(text):
        line = text[text.rfind("\n", 0, square.start()) + 1 : square.start()].rstrip(" ")
        if name := _NAME.search(line):
            yield name[0]


def _squared(source: Source, node: ast.BinOp, squares: set[str]) -> bool:
    """`delta = a - b` where `delta.pow(2)` or `delta ** 2` stands somewhere."""
    held = source.parents[node]
    if isinstance(held, ast.Return):
        home = tree.function(source, held) if _discounts(source, node.left) or _discounts(source, node.right) else None
        given = callers(project.as_function(source, home)) if home is not None else []
        return bool(given) and all(_is_squared(at, call) for at, call, _ in given)
    if _is_squared(source, node):
        return True
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    return bool(name) and any(one == name or one.endswith(f".{name}") for one in squares)


def _is_squared(source: Source, node: ast.expr) -> bool:
    """`node.pow(2)`, `node ** 2`, `node.square()` as it stands."""
    up = source.parents[node]
    if isinstance(up, ast.BinOp):
        return isinstance(up.op, ast.Pow) and up.left is node and tree.literal(up.right) == 2
    call = source.parents[up] if isinstance(up, ast.Attribute) and up.attr in ("pow", "square") else None
    return isinstance(call, ast.Call) and [tree.literal(one) for one in call.args] in ([], [2])
