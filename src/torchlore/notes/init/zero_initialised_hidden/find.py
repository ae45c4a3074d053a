"""The rule of zero-initialised-hidden."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, flow, follow, tree, uses
from torchlore.check.project import Class, as_function
from torchlore.check.source import Hit, Source

_CONSTANT = ("torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.constant_")
_LAYERS = ("torch.nn.Linear", "torch.nn.Conv1d", "torch.nn.Conv2d", "torch.nn.Conv3d", "torch.nn.ConvTranspose2d")

_TURNED = ("t", "transpose", "permute", "to", "type_as", "contiguous")
_PRODUCTS = ("matmul", "mm", "bmm", "linear", "dropout")
_FILLS = r"(normal_|uniform_|kaiming\w*|xavier\w*|orthogonal_|eye_|copy_|constant_|ones_|sparse_|trunc\w*)\("
WORDS = ("zeros_|ones_|constant_|zero_|fill_|zeros|zeros_like",)


def find(source: Source) -> Iterator[Hit]:
    yield from _products(source)
    written = [(call, call.args[0]) for call in source.calls(*_CONSTANT) if call.args]
    for call in source.methods("zero_", "fill_"):
        inner = tree.receiver(call)
        written.append((call, inner.value if isinstance(inner, ast.Attribute) and inner.attr == "data" else inner))
    for call, weight in written:
        told = _equal_units(source, call, weight)
        if not told or follow.in_test(source, call) or _given_later(source, call) or _never_run(source, call):
            continue
        yield source.hit(call, told)


def _equal_units(source: Source, call: ast.Call, weight: ast.expr) -> str:
    """What there is to say of a weight that gets one number, "" where it is one layer's own business."""
    if isinstance(weight, ast.Name) and _every_weight(source, call, weight):
        return (
            f"all units start with the same `{weight.id}` and stay equal: use `nn.init.kaiming_uniform_({weight.id})`"
        )
    if not isinstance(weight, ast.Attribute) or weight.attr != "weight" or not isinstance(weight.value, ast.Name):
        return ""
    layer = weight.value.id
    if not _in_a_row(source, call, layer) and not _every_layer(source, call, layer):
        return ""
    told = f"all units of `{layer}` start equal and stay equal: use `nn.init.kaiming_uniform_({layer}.weight)`"
    return told if not _filled_next(source, call, source.code(weight)) else ""


def _never_run(source: Source, call: ast.Call) -> bool:
    """Whether it stands in a method that nobody calls: the weights are what their layers made them."""
    home = tree.function(source, call)
    cls = tree.method_class(source, home) if home is not None else None
    if home is None or cls is None or home.name.startswith("__") or home.name in ("reset_parameters", "init_weights"):
        return False
    asked = [one for one in uses.attributes(source, home.name) if isinstance(one.ctx, ast.Load)]
    return not asked and not calls.callers(as_function(source, home))


def _given_later(source: Source, call: ast.Call) -> bool:
    """Whether the same class copies the weights of other layers into its own."""
    owner = tree.class_of(source, call)
    return (
        owner is not None
        and re.search(r"\.weight(\.data)?(\.copy_\(| = )[^()\n]*\.weight\b", source.code(owner)) is not None
    )


def _in_a_row(source: Source, call: ast.Call, layer: str) -> bool:
    """In a loop over `self.layers`, whose layers `forward` runs one after the other: `x = relu(layer(x))`."""
    loop = next((one for one in tree.loops(source, call) if isinstance(one, ast.For)), None)
    owner = tree.class_of(source, call)
    box = tree.dotted(loop.iter) if loop is not None and tree.dotted(loop.target) == layer else ""
    if owner is None or not box.startswith("self.") or tree.conditions(source, call):
        return False
    for other in tree.under(source, owner, ast.For):
        over = (
            other.iter.args[0]
            if isinstance(other.iter, ast.Call) and source.name(other.iter.func) == "enumerate" and other.iter.args
            else other.iter
        )
        over = over.value if isinstance(over, ast.Subscript) else over
        name = other.target.elts[-1] if isinstance(other.target, ast.Tuple) else other.target
        if (
            other is not loop
            and tree.dotted(over) == box
            and any(_passes_on(source, one, tree.dotted(name)) for one in tree.under(source, other, ast.Assign))
        ):
            return True
    return False


def _passes_on(source: Source, held: ast.Assign, layer: str) -> bool:
    """`x = relu(layer(x))`: what comes out goes into the next one."""
    runs = [one for one in tree.under(source, held.value, ast.Call) if tree.dotted(one.func) == layer]
    given = {tree.dotted(arg) for one in runs for arg in one.args}
    return bool(layer) and tree.dotted(held.targets[0]) in given - {""}


def _every_weight(source: Source, call: ast.Call, weight: ast.Name) -> bool:
    """In a loop over `named_parameters()`, under the one test `"weight" in name`, or `p.dim() > 1`."""
    loop = next(iter(tree.loops(source, call)), None)
    walked = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(walked, ast.Call) or not isinstance(walked.func, ast.Attribute) or not isinstance(loop, ast.For):
        return False
    names = [one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)]
    if walked.func.attr not in ("named_parameters", "parameters") or not names or names[-1] != weight.id:
        return False
    tests = [
        (source.code(test).replace("'", '"').replace(" ", ""), branch) for test, branch in tree.conditions(source, call)
    ]
    plain = {f'"weight"in{names[0]}', f"{weight.id}.dim()>1", f"len({weight.id}.shape)>1", f"{weight.id}.ndim>1"}
    asked = [(test, branch) for test, branch in tests if tree.inside(source, call, loop)]
    rest = asked == [(f'"bias"in{names[0]}', False)]  # biases in one branch, all else in the other
    rescue = any(isinstance(up, ast.ExceptHandler) for up in tree.ancestors(source, call))
    shown = tree.function(source, call) is None and not flow.may_train(source)  # a test of a layer by hand
    if rescue or shown:
        return False
    fits = rest or (len(asked) == 1 and asked[0][1] and asked[0][0] in plain)
    fits |= not asked and _one_number(source, call) and flow.may_train(source)
    return fits and not _filled_next(source, call, weight.id)


def _one_number(source: Source, call: ast.Call) -> bool:
    """`nn.init.constant_(p, 0.1)`, `nn.init.ones_(p)` without any question; zeros may be what an average begins with."""
    zero = tree.literal(tree.argument(call, 1, "val")) == 0
    return source.name(call.func) in _CONSTANT[1:] and not zero


def _filled_next(source: Source, call: ast.Call, weight: str) -> bool:
    """Whether the same block draws the weight right after it."""
    up = source.parents[tree.statement(source, call)]
    block = next(
        (part for part in (getattr(up, "body", []), getattr(up, "orelse", [])) if tree.statement(source, call) in part),
        [],
    )
    later = (one for one in block if one.lineno > call.lineno)
    return any(
        weight in source.code(one) and re.search(r"normal_|uniform_|xavier|kaiming|orthogonal", source.code(one))
        for one in later
    )


def _every_layer(source: Source, call: ast.Call, layer: str) -> bool:
    """In a function or loop that is run over all modules, under no test but `isinstance(layer, nn.Linear)`."""
    tests = tree.conditions(source, call)
    kinds = [_kinds(source, test, layer) for test, branch in tests if branch]
    others = [test for test, branch in tests if not branch and not _kinds(source, test, layer)]
    if not kinds or not all(kinds) or others or not any(set(_LAYERS) & set(names) for names in kinds):
        return False
    home = tree.function(source, call)
    applied = home is not None and any(
        isinstance(arg, ast.Name | ast.Attribute) and tree.dotted(arg).rpartition(".")[2] == home.name
        for one in source.methods("apply")
        for arg in one.args
    )
    walks = [loop.iter for loop in tree.loops(source, call) if isinstance(loop, ast.For)]
    looped = any(isinstance(one, ast.Call) and tree.dotted(one.func).endswith("modules") for one in walks)
    return applied or looped or any(_in_turn(source, one) for one in walks)


def _in_turn(source: Source, walked: ast.expr) -> bool:
    """`for layer in self.net`, a Sequential with two layers that have weights."""
    found = source.values(walked) if isinstance(walked, ast.Name | ast.Attribute) else ()
    held = [part.name for one in found if one.kind == "sequential" for group in one.items for part in group]
    return len([name for name in held if name in _LAYERS]) > 1


def _kinds(source: Source, test: ast.expr, layer: str) -> list[str]:
    """The classes of an `isinstance(layer, ...)` or a `type(layer) == ...`; [] for any other test."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and source.code(test.left) == f"type({layer})":
        asked = test.comparators[0] if isinstance(test.ops[0], ast.Eq | ast.Is | ast.In) else None
    else:
        plain = isinstance(test, ast.Call) and source.name(test.func) == "isinstance" and len(test.args) == 2
        asked = test.args[1] if plain and source.code(test.args[0]) == layer else None  # type: ignore[attr-defined]  # plain says so
    named = asked.elts if isinstance(asked, ast.Tuple | ast.List) else [asked] if asked is not None else []
    return [source.name(one) for one in named]


def _products(source: Source) -> Iterator[Hit]:
    """`x @ self.A.T @ self.B.T`, or `self.up(self.down(x))`, where both start at zero."""
    if "zeros" not in source.text and "zero_(" not in source.text and "fill_(" not in source.text:
        return
    zeroing = [*source.calls("torch.nn.init.zeros_"), *source.methods("zero_")]
    zeroing += [
        one for one in source.calls("torch.zeros", "torch.zeros_like") if isinstance(source.parents[one], ast.Call)
    ]
    for cls in classes.all_classes(source) if len(zeroing) > 1 else ():
        inside = sum(tree.inside(source, one, cls.node) for one in zeroing)
        zero = _zeros(source, cls) if inside > 1 and classes.is_module(cls) else {}
        for node in tree.under(source, cls.node, ast.BinOp, ast.Call) if len(zero) > 1 else ():
            held = [one for one in _factors(source, node) if one in zero]
            held = [one for one in held if not _filled(source.code(cls.node), one)] if len(set(held)) > 1 else []
            if len(set(held)) > 1:
                first = min((zero[one] for one in held), key=lambda one: one.lineno)
                names = " and ".join(f"`{one}`" for one in dict.fromkeys(held))
                told = f"{names} are multiplied and both start at zero, so neither ever gets a gradient: draw one of them, `nn.init.kaiming_uniform_`"
                yield source.hit(first, told)
                break


def _zeros(source: Source, cls: Class) -> dict[str, ast.expr]:
    """`self.A` by where it is set to zero."""
    found: dict[str, ast.expr] = {}
    for call in tree.under(source, cls.node, ast.Call):
        full, what = source.name(call.func), None
        if full == "torch.nn.init.zeros_" and call.args:
            what = call.args[0]
        elif follow.method(call) == "zero_" and not call.args:
            what = follow.peeled(tree.receiver(call), ())
        elif full == "torch.nn.Parameter" and call.args and isinstance(up := source.parents[call], ast.Assign):
            inner = call.args[0]
            plain = isinstance(inner, ast.Call) and source.name(inner.func) in ("torch.zeros", "torch.zeros_like")
            what = up.targets[0] if plain else None
        name = tree.dotted(what).removesuffix(".weight") if what is not None else ""
        if name.startswith("self.") and not tree.conditions(source, call):
            found[name] = call
    return found


def _filled(code: str, name: str) -> bool:
    """Whether the class fills it with something else as well."""
    own = re.escape(name)
    return re.search(rf"{_FILLS}\s*{own}\b|{own}(\.weight)?(\.data)?\.{_FILLS}", code) is not None


def _factors(source: Source, node: ast.expr) -> list[str]:
    """The factors of a chain of matrix products, and the layers that are run one on the other."""
    if isinstance(node, ast.BinOp):
        product = isinstance(node.op, ast.MatMult)
        scaled = isinstance(node.op, ast.Mult) and not isinstance(node.right, ast.Attribute)
        parts = [node.left, node.right] if product else [node.left] if scaled else []
        return [one for part in parts for one in _factors(source, part)]
    if isinstance(node, ast.Call) and follow.word(source, node) in _PRODUCTS:
        bound = [] if source.name(node.func) else [tree.receiver(node)]
        return [one for part in (*bound, *node.args[:2]) for one in _factors(source, part)]
    if isinstance(node, ast.Call) and follow.method(node) in _TURNED:
        return _factors(source, tree.receiver(node))
    if isinstance(node, ast.Call) and tree.dotted(node.func).startswith("self.") and len(node.args) == 1:
        return [tree.dotted(node.func), *_factors(source, node.args[0])]
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return _factors(source, node.value)
    return [tree.dotted(node).removesuffix(".weight")]
