"""The rule of unscaled-random-weights."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, edits, follow, tree, uses
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source

_INIT = ("torch.nn.init.normal_", "torch.nn.init.uniform_")
_FAN = re.compile(r"\bfan_?(in|out)?\b|in_features|in_channels|size\(1\)|shape\[1\]|\bn_in\b")
_HELD = (".weight", ".weight.data", ".bias", ".bias.data")
_DRAWS = ("torch.randn", "torch.rand")
_PRODUCTS = (
    "torch.mm",
    "torch.matmul",
    "torch.bmm",
    "torch.nn.functional.linear",
    "torch.einsum",
    "torch.spmm",
    "torch.sparse.mm",
)
WORDS = ("normal_|uniform_|trunc_normal_|randn|rand",)


def find(source: Source) -> Iterator[Hit]:
    yield from _by_init(source)
    yield from (*_mean_for_spread(source), *_turned_round(source), *_scale_around_zero(source))
    homes = {tree.class_of(source, one) for one in source.calls("torch.nn.Parameter") if _is_drawn(source, one)}
    for cls in classes.all_classes(source) if homes else ():
        start = classes.methods(cls).get("__init__") if cls.node in homes and classes.is_module(cls) else None
        if start is None:
            continue
        sizes = {arg.arg for arg in tree.parameters(start)[1:]}
        for name, found in classes.own_attributes(cls).items():
            draw = _draw(source, found[0].value, sizes) if len(found) == 1 and found[0].method == "__init__" else None
            if draw is not None and _is_factor(source, cls, name) and _made(source, cls) >= 2:
                told = f"each `{cls.node.name}` multiplies the spread of its input by the root of `{source.code(draw.args[0])}`"
                shown = not uses.says(source, "loss") and not any(source.methods("backward"))  # a lesson about layers
                better = f"{told}: divide by it, or call `nn.init.xavier_uniform_(self.{name})`"
                yield source.hit(draw, better, severity="hint" if shown and "print(" in source.text else None)


def _by_init(source: Source) -> Iterator[Hit]:
    """`m.weight.data.normal_(0, 1)` and `nn.init.normal_(m.weight)` for every linear layer or convolution."""
    drawn = [(call, call.args[0], call.args[1:]) for call in source.calls(*_INIT) if call.args]
    for call in source.methods("normal_", "uniform_"):
        inner = tree.receiver(call)
        if source.name(call.func) not in _INIT:
            drawn.append(
                (call, inner.value if isinstance(inner, ast.Attribute) and inner.attr == "data" else inner, call.args)
            )
    for call, weight, rest in drawn:
        mean = tree.literal(tree.argument(call, len(call.args) - len(rest), "mean"))
        layer = tree.dotted(weight.value) if isinstance(weight, ast.Attribute) and weight.attr == "weight" else ""
        chained = isinstance(source.parents[call], ast.Attribute)  # `.normal_().mul_(0.01)`
        plain = bool(layer) and "." not in layer and not chained and not _scaled_below(source, call, layer)
        if plain and _spread(call, rest) and _every_layer(source, call, layer):
            told = f"a spread of 1, whatever the size of `{layer}`, multiplies the numbers by the root of its inputs"
            yield source.hit(call, f"{told}: use `nn.init.kaiming_normal_({layer}.weight)`")
        elif plain and mean == 1 and _beside_a_norm(source, call) and _every_layer(source, call, layer):
            yield source.hit(
                call, "weights around 1 add all inputs up, which is for the scale of a batch norm: draw them around 0"
            )


def _beside_a_norm(source: Source, call: ast.Call) -> bool:
    """`normal_`, in a function that has a branch for batch norm too: its line was copied."""
    home = tree.function(source, call)
    return "normal" in tree.dotted(call.func) and home is not None and "Norm" in source.code(home)


def _scaled_below(source: Source, call: ast.Call, layer: str) -> bool:
    """`m.weight.data *= 1 / norm` in the lines that follow."""
    home = tree.function(source, call) or source.tree
    names = (f"{layer}.weight", f"{layer}.weight.data")
    return any(
        tree.dotted(one.target) in names and one.lineno > call.lineno for one in tree.under(source, home, ast.AugAssign)
    )


def _mean_for_spread(source: Source) -> Iterator[Hit]:
    """`nn.init.normal_(m.weight, 0.02)`: the number alone is the mean, and the spread stays 1."""
    drawn = [(call, call.args[1:]) for call in source.calls(_INIT[0], "torch.nn.init.trunc_normal_")]
    own = [one for one in source.methods("normal_") if source.name(one.func) not in _INIT]
    drawn += [(one, one.args) for one in own if tree.dotted(one.func).removesuffix(".normal_").endswith(_HELD)]
    for call, rest in drawn:
        mean = tree.literal(rest[0]) if len(rest) == 1 and not call.keywords else None
        if isinstance(mean, float) and 0 < mean < 0.5:
            code = source.code(rest[0])
            told = f"`{code}` alone is the mean, and the spread stays 1: write `std={code}`"
            yield source.hit(call, told, edits.replace(source, rest[0], f"std={code}"))


def _scale_around_zero(source: Source) -> Iterator[Hit]:
    """`m.weight.data.normal_(0.0, 0.02)` where `m` is a norm: its scale belongs around 1."""
    drawn = [(call, call.args[0], 1) for call in source.calls(_INIT[0]) if call.args and "Norm" in source.text]
    own = [one for one in source.methods("normal_") if source.name(one.func) not in _INIT and "Norm" in source.text]
    drawn += [(one, tree.receiver(one), 0) for one in own]
    for call, weight, place in drawn:
        held = weight.value if isinstance(weight, ast.Attribute) and weight.attr == "data" else weight
        mean, spread = tree.argument(call, place, "mean"), tree.literal(tree.argument(call, place + 1, "std"))
        layer = tree.dotted(held.value) if isinstance(held, ast.Attribute) and held.attr == "weight" else ""
        small = tree.literal(mean) == 0 and isinstance(spread, float) and 0 < spread < 0.5
        asked = [test for test, branch in tree.conditions(source, call) if branch] if layer and small else []
        if asked and not isinstance(source.parents[call], ast.Attribute) and _asks_for_norm(source, asked[0], layer):
            told = (
                f"`{layer}.weight` is the scale of a norm here, and around 0 it takes the signal away: draw it around 1"
            )
            yield source.hit(call, told)


def _asks_for_norm(source: Source, test: ast.expr, layer: str) -> bool:
    """`isinstance(m, nn.BatchNorm2d)`, `name.find("BatchNorm") != -1`, one of several kinds too."""
    if isinstance(test, ast.BoolOp):
        return isinstance(test.op, ast.Or) and any(_asks_for_norm(source, one, layer) for one in test.values)
    if isinstance(test, ast.Call):
        kinds = test.args[1] if _asks(source, test, layer) and len(test.args) == 2 else None
        each = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
        return any(one is not None and re.match(r"torch\.nn\.\w*Norm\w*$", source.name(one)) for one in each)
    asked = (
        isinstance(test, ast.Compare) and not isinstance(test.ops[0], ast.Eq | ast.NotIn) and _asks(source, test, layer)
    )
    return asked and re.search(r"[\"']\w*Norm\w*[\"']", source.code(test)) is not None


def _turned_round(source: Source) -> Iterator[Hit]:
    """`nn.init.normal_(m.weight, 0, math.sqrt(fan_in))`: the root belongs under the one."""
    drawn = [(call, tree.argument(call, 2, "std")) for call in source.calls(_INIT[0])]
    drawn += [(call, tree.argument(call, 1, "std")) for call in source.methods("normal_")]
    for call, std in drawn:
        whole = follow.followed(source, std) if std is not None else None
        root = whole.args[0] if isinstance(whole, ast.Call) and len(whole.args) == 1 else None
        if isinstance(whole, ast.BinOp) and isinstance(whole.op, ast.Pow) and tree.literal(whole.right) == 0.5:
            root = whole.left
        named = isinstance(whole, ast.BinOp) or (
            isinstance(whole, ast.Call) and source.name(whole.func).endswith("sqrt")
        )
        size = follow.followed(source, root) if root is not None and named else None
        code = f"{source.code(root)} {source.code(size)}" if size is not None and root is not None else ""
        if root is not None and code and not isinstance(size, ast.BinOp) and _FAN.search(code):
            yield source.hit(
                call, f"the spread grows with `{source.code(root)}` here: divide by the root, `1 / math.sqrt(...)`"
            )


def _spread(call: ast.Call, rest: list[ast.expr]) -> bool:
    """Whether the draw has a standard deviation of 1, or lies between 0 and 1."""
    numbers = [tree.literal(one) for one in rest]
    named = {keyword.arg: tree.literal(keyword.value) for keyword in call.keywords}
    if "normal" in tree.dotted(call.func):
        std = named.get("std", numbers[1] if len(numbers) > 1 else 1 if numbers in ([], [0], [0.0]) else None)
        return isinstance(std, int | float) and std == 1 and "trunc" not in tree.dotted(call.func)
    return (numbers or [named.get("a"), named.get("b")]) in ([0, 1], [None, None])


def _every_layer(source: Source, call: ast.Call, layer: str) -> bool:
    """In a function given to `apply`, or a loop over `modules()`, for linear layers or convolutions."""
    tests = [test for test, branch in tree.conditions(source, call) if branch]
    asked = [one for one in tests if _asks(source, one, layer)]
    kinds = " ".join(source.code(one) for one in asked)
    if not asked or len(asked) != len(tests) or not ("Linear" in kinds or "Conv" in kinds):
        return False
    home = tree.function(source, call)
    given = [arg for one in source.methods("apply") for arg in one.args]
    applied = home is not None and any(tree.dotted(arg).rpartition(".")[2] == home.name for arg in given)
    walks = [loop.iter for loop in tree.loops(source, call) if isinstance(loop, ast.For)]
    return applied or any(isinstance(one, ast.Call) and tree.dotted(one.func).endswith("modules") for one in walks)


def _asks(source: Source, test: ast.expr, layer: str) -> bool:
    """`isinstance(m, nn.Linear)`, `classname.find("Linear") != -1`, `"Linear" in classname`."""
    if isinstance(test, ast.Call):
        return source.name(test.func) == "isinstance" and source.code(test.args[0]) == layer
    code = source.code(test) if isinstance(test, ast.Compare) and len(test.ops) == 1 else ""
    return ".find(" in code or isinstance(getattr(test, "ops", [None])[0], ast.In)


def _is_drawn(source: Source, call: ast.Call) -> bool:
    """`nn.Parameter(torch.randn(n_in, n_out))`."""
    inner = call.args[0] if call.args else None
    return isinstance(inner, ast.Call) and source.name(inner.func) in _DRAWS and len(inner.args) == 2


def _draw(source: Source, value: ast.expr | None, sizes: set[str]) -> ast.Call | None:
    """`torch.randn(n_in, n_out)` of `nn.Parameter(torch.randn(n_in, n_out))` with the sizes that the layer was given."""
    made = isinstance(value, ast.Call) and source.name(value.func) == "torch.nn.Parameter"
    inner = value.args[0] if isinstance(value, ast.Call) and made and _is_drawn(source, value) else None
    if not isinstance(inner, ast.Call):
        return None
    given = [tree.dotted(one).removeprefix("self.") for one in inner.args]
    return inner if all(one in sizes for one in given) and given[0] != given[1] else None


def _is_factor(source: Source, cls: Class, name: str) -> bool:
    """Whether the weight as it is stands in a matrix product, and nobody draws it anew or scales it."""
    product = False
    for node in tree.under(source, cls.node, ast.Attribute):
        if node.attr != name or tree.dotted(node.value) != "self" or not isinstance(node.ctx, ast.Load):
            continue
        up = source.parents[node]
        if isinstance(up, ast.Attribute) and up.attr in ("T", "shape", "size", "device", "dtype"):
            up = source.parents[up]
        if (isinstance(up, ast.BinOp) and isinstance(up.op, ast.MatMult)) or (
            isinstance(up, ast.Call)
            and (source.name(up.func) in _PRODUCTS or follow.method(up) in ("mm", "matmul", "bmm"))
        ):
            product = True
        elif not isinstance(up, ast.Call | ast.Subscript) or source.name(
            up.func if isinstance(up, ast.Call) else None
        ) not in ("print", "len"):
            return False
    return product


def _made(source: Source, cls: Class) -> int:
    return sum(1 for _ in source.calls(cls.qualified))
