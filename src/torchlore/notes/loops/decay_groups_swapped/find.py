"""What a file shows of it."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, origin, scopes, tree, uses
from torchlore.check.source import Hit, Source

_SPARED = ("bias", "norm", "bn", "gamma", "beta")
_UNDECAYED = re.compile(
    r"(^|_)(no|non|without|skip|wo|un)_?(wd|decay\w*|weight_decay\w*|regulari[sz]\w*)$", re.IGNORECASE
)

_DECAYED = re.compile(
    r"^(with_)?(decay|decayed|wd|weight_decay)(_?(params?|parameters|names?|set|list))?$", re.IGNORECASE
)

WORDS = ("*weight_decay*|named_parameters",)


def find(source: Source) -> Iterator[Hit]:
    yield from _penalty(source) if "named_parameters" in source.text else ()
    if "weight_decay" not in source.text:
        return
    yield from _joined(source)
    if "params" not in source.text:
        return
    yield from (*_inherits(source), *_unused(source), *_one_list(source), *_in_neither(source), *_overwritten(source))
    for groups in source.all(ast.List):
        yield from _named_the_other_way(source, groups)
        found = [(one, _choice(source, one)) for one in groups.elts if _entries(one)]
        pulled = next(
            ((one, choice[1]) for one, choice in found if choice is not None and choice[0] and not _is_zero(one)), None
        )
        spared = any(choice is not None and not choice[0] and _is_zero(one) for one, choice in found)
        if pulled is None or not spared:
            continue
        told = "the biases and norms for the group with weight decay, and the matrices get none"
        given = _params(pulled[0])
        if given is not None and _UNDECAYED.search(tree.dotted(given).rpartition(".")[2]):
            yield source.hit(pulled[0], f"`{source.code(given)}` holds {told}: change the two `weight_decay`")
        else:
            yield source.hit(pulled[1], f"this chooses {told}: turn the test round")


def _penalty(source: Source) -> Iterator[Hit]:
    """`if "bias" in name: l2 = l2 + p.pow(2).sum()`: a penalty by hand that has the biases and nothing else."""
    for test in source.all(ast.Compare):
        word = tree.literal(test.left) if isinstance(test.ops[0], ast.In) else None
        up = source.parents[test]
        if word not in ("bias", ".bias") or len(test.ops) != 1 or not isinstance(up, ast.If | ast.comprehension):
            continue
        body: ast.AST = up if isinstance(up, ast.If) else source.parents[up]
        loop = _over_parameters(source, test) if isinstance(up, ast.If) else up
        over = isinstance(loop, ast.For | ast.comprehension) and follow.method(loop.iter) == "named_parameters"
        names = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)} if over and loop else set()
        home = tree.function(source, test)
        both = len(re.findall("bias|else", source.text if home is None else source.code(home))) > 1 or getattr(
            up, "orelse", None
        )
        if names and not both and any(_squares(one) & names for one in ast.walk(body)):
            told = "this gives the penalty to the biases, and the weights that it is meant for get none"
            yield source.hit(
                test, f"{told}: write `{source.code(test.left)} not in {source.code(test.comparators[0])}`"
            )


def _squares(node: ast.AST) -> set[str]:
    """`p` of `p.pow(2)`, `p.norm()`, `p ** 2` and `torch.norm(p)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return {tree.dotted(node.left)}
    if isinstance(node, ast.Call) and tree.dotted(node.func).rpartition(".")[2] in ("pow", "norm", "abs", "square"):
        return {tree.dotted(tree.receiver(node)), *(tree.dotted(one) for one in node.args[:1])}
    return set()


def _named_the_other_way(source: Source, groups: ast.List) -> Iterator[Hit]:
    """`{"params": [... in decay], "weight_decay": 0.0}` beside `{"params": [... in no_decay], "weight_decay": wd}`."""
    spared = pulled = None
    for one in groups.elts:
        given = _params(one) if _entries(one) else None
        if not isinstance(given, ast.ListComp | ast.GeneratorExp | ast.Name):
            continue
        names = {part.id for part in ast.walk(given) if isinstance(part, ast.Name)}
        undecayed = [name for name in names if _UNDECAYED.search(name)]
        decayed = [name for name in names if _DECAYED.search(name)]
        spared = one if decayed and not undecayed and _is_zero(one) else spared
        pulled = one if undecayed and not decayed and not _is_zero(one) else pulled
    if spared is not None and pulled is not None and not _chosen(source, groups):
        told = "the group that is to be decayed has a `weight_decay` of 0, and the other is decayed: change the two"
        yield source.hit(pulled, told)


def _chosen(source: Source, groups: ast.List) -> bool:
    """Whether the groups are chosen by tests, which say themselves what they hold."""
    return any(_choice(source, one) is not None for one in groups.elts if _entries(one))


def _joined(source: Source) -> Iterator[Hit]:
    """`SGD(decay + no_decay, weight_decay=1e-4)`: the split is made and not used."""
    for call, _ in uses.calls_under(source, "torch.optim."):
        rate = tree.argument(call, None, "weight_decay")
        given = tree.argument(call, 0, "params")
        if rate is None or given is None or tree.literal(rate) in (0, 0.0):
            continue
        whole = follow.followed(source, given)
        parts = [whole.left, whole.right] if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Add) else []
        parts += (
            [one.value for one in whole.elts if isinstance(one, ast.Starred)] if isinstance(whole, ast.List) else []
        )
        spared = [one for one in parts if _UNDECAYED.search(tree.dotted(one).rpartition(".")[2])]
        if spared and len(parts) > len(spared):
            yield source.hit(
                call,
                f"`{source.code(spared[0])}` is joined with the rest and decayed as they are: give it a group of its own, "
                f'`{{"params": {source.code(spared[0])}, "weight_decay": 0.0}}`',
            )


def _unused(source: Source) -> Iterator[Hit]:
    """The groups are built, and the optimizer beside them is given all parameters as one."""
    for call, _ in uses.calls_under(source, "torch.optim."):
        given = tree.argument(call, 0, "params")
        whole = follow.followed(source, given) if given is not None else None
        home = tree.function(source, call)
        if follow.method(whole or call) != "parameters" or follow.in_test(source, call):
            continue
        for held in tree.under(source, home or source.tree, ast.Assign):
            name = held.targets[0] if len(held.targets) == 1 else None
            near = tree.function(source, held) is home and held.lineno < call.lineno
            if isinstance(name, ast.Name) and near and _left_alone(source, name, held.value, home):
                told = f"`{name.id}` is built on line {held.lineno} and never used, so one group holds all"
                yield source.hit(call, f"{told}: write `{source.code(call.func)}({name.id}, ...)`", severity="warning")


def _left_alone(source: Source, name: ast.Name, value: ast.expr, home: tree.FunctionNode | None) -> bool:
    """Whether this is a list of parameter groups that nobody reads again, but to append to it."""
    if not isinstance(value, ast.List | ast.Call) or "locals()" in source.text:
        return False
    _, made = origin.origin(source, value) if isinstance(value, ast.Call) else (source, value)
    groups = list(made.elts) if isinstance(made, ast.List) else []
    for one in uses.names(source, name.id):
        if one is name or (home is not None and not tree.inside(source, one, home)):
            continue
        up = source.parents[source.parents[one]]
        if follow.method(up) != "append" or not isinstance(up, ast.Call) or tree.receiver(up) is not one:
            return False
        groups += up.args
    return len(groups) > 1 and all(_params(one) is not None for one in groups)


def _over_parameters(source: Source, node: ast.AST) -> ast.For | None:
    """The loop over a model's parameters in which this stands."""
    for loop in tree.loops(source, node)[:1]:
        if isinstance(loop, ast.For) and follow.method(loop.iter) in ("parameters", "named_parameters"):
            return loop
    return None


def _one_list(source: Source) -> Iterator[Hit]:
    """`(decay if needs(name) else decay).append(p)`, or the same `decay.append(p)` in both branches."""
    for choice in source.all(ast.IfExp):
        same = ast.dump(choice.body) == ast.dump(choice.orelse) and isinstance(choice.body, ast.Name)
        if same and _over_parameters(source, choice) is not None:
            told = (
                f"both branches give `{source.code(choice.body)}`, so one group gets all parameters and the other none"
            )
            yield source.hit(choice, f"{told}: name the other list behind `else`")
    for branch in source.all(ast.If):
        whole = len(branch.body) == len(branch.orelse) == 1 and follow.method(getattr(branch.body[0], "value", branch))
        same = whole == "append" and ast.dump(branch.body[0]) == ast.dump(branch.orelse[0])
        if same and _over_parameters(source, branch) is not None:
            told = "both branches fill the same list, so one group gets all parameters and the other none"
            yield source.hit(branch.orelse[0], f"{told}: append to the other list here")


def _in_neither(source: Source) -> Iterator[Hit]:
    """`if p.ndim > 1: a.append(p) elif name.endswith("bias"): b.append(p)`: the scales of norms come into no group."""
    if "Norm" not in source.text:
        return
    for branch in source.all(ast.If):
        other = branch.orelse[0] if len(branch.orelse) == 1 else None
        if not isinstance(other, ast.If) or other.orelse or _over_parameters(source, branch) is None:
            continue
        fills = [follow.method(getattr(one.body[-1], "value", one)) == "append" for one in (branch, other)]
        first, second = branch.test, other.test
        matrices = isinstance(first, ast.Compare) and _compared(first) < 0 and len(first.ops) == 1
        biases = re.fullmatch(r"""\w+\.endswith\(["']\.?bias["']\)|["']\.?bias["'] in \w+""", source.code(second))
        if all(fills) and matrices and biases:
            told = "scales of norms are neither matrices nor biases, so they come into no group and are never trained"
            yield source.hit(other, f"{told}: write `else:`")


def _inherits(source: Source) -> Iterator[Hit]:
    """`AdamW([{"params": decay}, {"params": no_decay}], weight_decay=0.1)`: a group without its own takes the optimizer's."""
    for call, name in uses.calls_under(source, "torch.optim."):
        given = tree.argument(call, 0, "params")
        groups = follow.followed(source, given) if given is not None else None
        if not isinstance(groups, ast.List) or len(groups.elts) < 2 or not all(_params(one) for one in groups.elts):
            continue
        rate = tree.argument(call, None, "weight_decay")
        default = rate is None and name.endswith(".AdamW") and not any(one.arg is None for one in call.keywords)
        if not default and (rate is None or tree.literal(rate) in (0, 0.0)):
            continue
        for group in groups.elts:
            params = source.code(_params(group) or group)
            spared = _UNDECAYED.search(params.rpartition(".")[2]) or _alone_without(source, group, groups.elts)
            if "weight_decay" not in _entries(group) and spared:
                whole = source.code(rate) if rate is not None else "0.01"
                yield source.hit(
                    group,
                    f"`{params}` has no `weight_decay` of its own and takes the optimizer's, {whole}: "
                    'write `"weight_decay": 0.0` in this group',
                )


def _alone_without(source: Source, group: ast.expr, groups: list[ast.expr]) -> bool:
    """Whether this group holds the biases and norms, and every other one has a `weight_decay` of its own."""
    choice = _choice(source, group)
    others = [one for one in groups if one is not group]
    return choice is not None and choice[0] and all("weight_decay" in _entries(one) for one in others)


def _entries(group: ast.expr) -> dict[object, ast.expr]:
    """The entries of `{"params": ...}` and of `dict(params=...)`."""
    if isinstance(group, ast.Dict):
        return {
            tree.literal(key): value for key, value in zip(group.keys, group.values, strict=True) if key is not None
        }
    made = isinstance(group, ast.Call) and tree.dotted(group.func) == "dict"
    return {one.arg: one.value for one in group.keywords} if isinstance(group, ast.Call) and made else {}


def _params(group: ast.expr) -> ast.expr | None:
    return _entries(group).get("params")


def _is_zero(group: ast.expr) -> bool:
    rate = _entries(group).get("weight_decay")
    return rate is not None and tree.literal(rate) in (0, 0.0)


def _choice(source: Source, group: ast.expr) -> tuple[bool, ast.expr] | None:
    """Whether the test that fills a group chooses biases and norms, and the test; None where it cannot be seen."""
    given = _params(group)
    named = next((one.value for one in scopes.reaching(source, given)), None) if isinstance(given, ast.Name) else given
    if isinstance(named, ast.ListComp | ast.GeneratorExp):
        tests = named.generators[0].ifs
        signs = {sign for test in tests if (sign := _sign(source, test))}
        return (signs.pop() > 0, tests[0]) if len(signs) == 1 else None
    return _appended(source, given) if isinstance(given, ast.Name) else None


def _appended(source: Source, name: ast.Name) -> tuple[bool, ast.expr] | None:
    """The test under which one loop appends to a list."""
    found = []
    for call in source.methods("append", "extend"):
        if tree.function(source, call) is not tree.function(source, name):
            continue
        into, conditions = tree.receiver(call), tree.conditions(source, call)
        if isinstance(into, ast.IfExp) and name.id in (tree.dotted(into.body), tree.dotted(into.orelse)):
            conditions = [(into.test, tree.dotted(into.body) == name.id), *conditions]
            into = name  # `(plain if p.ndim < 2 else decay).append(p)`
        if tree.dotted(into) == name.id:
            tests = [(test, _sign(source, test) * (1 if branch else -1)) for test, branch in conditions]
            found.append(next(((test, sign) for test, sign in tests if sign), None))
    signs = {one[1] for one in found if one is not None}
    first = next((one for one in found if one is not None), None)
    return (first[1] > 0, first[0]) if first is not None and len(signs) == 1 and None not in found else None


def _sign(source: Source, test: ast.expr) -> int:
    """1 where a test chooses biases and norms, -1 where it chooses the rest, 0 where that cannot be seen."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return -_sign(source, test.operand)
    if isinstance(test, ast.BoolOp):
        signs = {sign for one in test.values if (sign := _sign(source, one))}
        return signs.pop() if len(signs) == 1 else 0
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(test)
    return _asked(source, test) if isinstance(test, ast.Call) else 0


def _asked(source: Source, test: ast.Call) -> int:
    """`name.endswith("bias")`, `any(word in name for word in ("bias", "norm"))`."""
    if isinstance(test.func, ast.Attribute) and test.func.attr == "endswith" and test.args:
        return int(str(tree.literal(test.args[0])).endswith("bias"))
    inner = test.args[0] if source.name(test.func) == "any" and len(test.args) == 1 else None
    if not isinstance(inner, ast.GeneratorExp) or not isinstance(inner.elt, ast.Compare | ast.Call):
        return 0
    lists = [value.node for value in source.values(inner.generators[0].iter)]
    words = [tree.literal(one) for node in lists for one in getattr(node, "elts", ())]
    held = isinstance(inner.elt, ast.Call) or isinstance(inner.elt.ops[0], ast.In)
    return int(held and "bias" in {str(one).strip(".") for one in words})


def _compared(test: ast.Compare) -> int:
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    word = tree.literal(left)
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(word, str):
        chosen = int(any(one in word.lower() for one in _SPARED))
        return chosen if isinstance(operator, ast.In) else -chosen
    counted = left.func if isinstance(left, ast.Call) else left
    axes = isinstance(counted, ast.Attribute) and counted.attr in ("ndim", "dim", "ndimension")
    axes = axes or (isinstance(left, ast.Call) and tree.dotted(left.func) == "len" and "shape" in ast.dump(left))
    limit = tree.literal(right)
    low = (isinstance(operator, ast.LtE | ast.Eq) and limit == 1) or (isinstance(operator, ast.Lt) and limit == 2)
    high = (isinstance(operator, ast.GtE) and limit == 2) or (isinstance(operator, ast.Gt | ast.NotEq) and limit == 1)
    return int(axes and low) - int(axes and high)


def _overwritten(source: Source) -> Iterator[Hit]:
    """`for group in optimizer.param_groups: group["weight_decay"] = wd`, where one group was made with none."""
    spared = [one for one in source.all(ast.Dict) if _entries(one) and _is_zero(one)]
    for loop in source.all(ast.For) if spared else ():
        name = loop.target.id if isinstance(loop.target, ast.Name) else ""
        if not name or not tree.dotted(loop.iter).endswith(".param_groups"):
            continue
        for one in (part for part in loop.body if isinstance(part, ast.Assign)):
            target = one.targets[0]
            key = tree.literal(target.slice) if isinstance(target, ast.Subscript) else None
            mine = isinstance(target, ast.Subscript) and tree.dotted(target.value) == name and key == "weight_decay"
            own = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(one.value))
            if mine and not own and tree.literal(one.value) not in (0, 0.0):
                told = f"every group gets this decay, also the one that was made without any (line {spared[0].lineno})"
                yield source.hit(one, f"{told}: leave out those with none", severity="warning")
