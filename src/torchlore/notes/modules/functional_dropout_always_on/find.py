"""The rule of functional-dropout-always-on."""

import ast
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, tensors, tree
from torchlore.check.project import Class, as_function, candidates, enclosing_class
from torchlore.check.source import Hit, Source

_ON = tuple(f"torch.nn.functional.dropout{end}" for end in ("", "1d", "2d", "3d"))
_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
WORDS = ("dropout|dropout1d|dropout2d|dropout3d|scaled_dot_product_attention",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls(*_ON):
        on, rate = tree.lacks(call, 2, "training"), tree.argument(call, 1, "p")
        if on and _for_modules(source, call, rate):
            message = "this drops in `eval()` too: take `training` as a parameter, and give it `self.training`"
            yield source.hit(call, message, severity="warning")
        elif on and _in_module(source, call) and not _off(source, rate):
            edit = edits.add_keyword(source, call, "training", "self.training")
            told = "this drops in `eval()` too: add `training=self.training`"
            yield source.hit(call, told, edit, severity="hint" if _is_generator(source, call) else None)
        mode = tree.argument(call, 2, "training")
        turned = isinstance(mode, ast.UnaryOp) and isinstance(mode.op, ast.Not)
        if turned and isinstance(mode, ast.UnaryOp) and source.code(mode.operand) == "self.training":
            told = "this drops in `eval()` and not in training: write `training=self.training`"
            yield source.hit(call, told, edits.replace(source, mode, "self.training"))
        if mode is not None and source.code(mode) == "self.train" and _in_module(source, call):
            told = "`self.train` is the method, which is always true, so this drops in `eval()` too: write `training=self.training`"
            yield source.hit(call, told, edits.replace(source, mode, "self.training"))
        yield from _told_by_callers(source, mode) if isinstance(mode, ast.Name) else ()
    for call in source.calls("functools.partial"):
        drops = bool(call.args) and source.name(call.args[0]) in _ON and tree.lacks(call, 3, "training")
        if drops and _in_module(source, call) and "training" not in source.code(enclosing_class(source, call).node):  # type: ignore[union-attr]  # in a module
            told = "this drops in `eval()` too, as nobody tells it the mode: use `nn.Dropout`"
            yield source.hit(call, told)
    for call in source.calls(_ATTENTION):
        rate = tree.argument(call, 4, "dropout_p")
        if rate is not None and _constant(source, rate) and _in_module(source, call) and not _off(source, rate):
            better = f"{source.code(rate)} if self.training else 0.0"
            message = f"`dropout_p` has no eval mode of its own and drops at test time: write `{better}`"
            yield source.hit(call, message, edits.replace(source, rate, better))


def _told_by_callers(source: Source, mode: ast.Name) -> Iterator[Hit]:
    """`def forward(self, x, train=True)` that drops by `train`, called without it where a model is evaluated."""
    home, cls = tree.function(source, mode), enclosing_class(source, mode)
    own = [one for one in tree.parameters(home) if one.arg == mode.id] if home is not None else []
    if home is None or home.name != "forward" or not own or cls is None or not classes.is_module(cls):
        return
    function = as_function(source, home)
    on = calls.default_of(function, own[0])
    for where, call, skip in calls.callers(function) if on is not None and tree.literal(on) is True else ():
        away = where is source and calls.given_argument(function, call, own[0], skip) in (None, on)
        if away and not tree.spread(call) and tensors.no_grad_around(source, call):
            told = f"this drops in evaluation too, as `{mode.id}` is True unless it is told: write `{mode.id}=False`"
            yield source.hit(call, told)


def _is_generator(source: Source, call: ast.Call) -> bool:
    """pix2pix draws its noise by dropout, at test time too."""
    cls = enclosing_class(source, call)
    return cls is not None and "generator" in cls.node.name.lower()


def _in_module(source: Source, call: ast.Call) -> bool:
    """In a method of a module, where no test around it mentions the mode."""
    home, cls = tree.function(source, call), enclosing_class(source, call)
    if home is None or cls is None or not classes.is_module(cls) or "prenet" in cls.node.name.lower():
        return False  # Tacotron's prenet drops at test time on purpose
    tests = [source.code(test) for test, _ in tree.conditions(source, call) if not _above_zero(test)]
    method = tree.method_class(source, home) is cls.node and any(arg.arg == "self" for arg in tree.parameters(home))
    return method and not any("train" in test or "dropout" in test for test in tests)


def _for_modules(source: Source, call: ast.Call, rate: ast.expr | None) -> bool:
    """In a plain function that only the forward passes of modules call, and that is not told the mode."""
    home = tree.function(source, call)
    if home is None or tree.method_class(source, home) is not None or tree.conditions(source, call):
        return False
    told = any("train" in arg.arg or "eval" in arg.arg for arg in tree.parameters(home))
    inner = as_function(source, home)
    sites = calls.callers(inner) if not told and "mc" not in home.name.lower() else []
    taken = next((arg for arg in tree.parameters(home) if arg.arg == tree.dotted(rate or call)), None)
    rates = [calls.given_argument(inner, site, taken, skip) if taken else rate for _, site, skip in sites]
    given = [one is not None and not isinstance(one, ast.IfExp) for one in rates]  # `self.rate if self.training else 0`
    return bool(sites) and (taken is None or all(given)) and all(_in_module(caller, site) for caller, site, _ in sites)


def _above_zero(test: ast.expr) -> bool:
    """`self.dropout > 0` asks whether to drop at all, not in which mode."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Gt) and tree.literal(test.comparators[0]) == 0


def _off(source: Source, rate: ast.expr | None) -> bool:
    """A share that is 0, or 0 unless a caller of the method asks for more: it is no layer of the network then."""
    if tree.literal(rate) == 0:
        return True
    home = tree.function(source, rate) if isinstance(rate, ast.Name) else None
    if isinstance(rate, ast.Name) and home is not None and home.name != "forward":
        named: list[tuple[ast.arg, ast.expr | None]] = [
            *zip(home.args.args[::-1], home.args.defaults[::-1], strict=False)
        ]
        named += zip(home.args.kwonlyargs, home.args.kw_defaults, strict=True)
        return any(one.arg == rate.id and tree.literal(default) == 0 for one, default in named)
    cls = enclosing_class(source, rate) if isinstance(rate, ast.Attribute) else None
    if not isinstance(rate, ast.Attribute) or cls is None or source.code(rate.value) != "self":
        return False
    found = classes.assigned(cls, rate.attr)
    return bool(found) and all(tree.literal(one.value) == 0 or _never_given(source, cls, one.value) for one in found)


def _never_given(source: Source, cls: Class, value: ast.expr | None) -> bool:
    """A parameter of `__init__` that is 0 by default, where nobody who makes one says otherwise."""
    home = tree.function(source, value) if isinstance(value, ast.Name) else None
    if home is None or not isinstance(value, ast.Name) or cls.source is not source:
        return False
    named = [*home.args.args]
    pairs = {one.arg: default for one, default in zip(named[::-1], home.args.defaults[::-1], strict=False)}
    if tree.literal(pairs.get(value.id)) != 0 or any(
        one is not source for one in candidates(source.project, cls, cls.node.name)
    ):
        return False
    place = next((index for index, one in enumerate(named) if one.arg == value.id), 0)
    made = [one for one in source.all(ast.Call) if tree.dotted(one.func) == cls.node.name]
    return bool(made) and all(len(one.args) < place and tree.keyword(one, value.id) is None and not tree.spread(one) for one in made)  # fmt: skip


def _constant(source: Source, rate: ast.expr) -> bool:
    """A number above zero, or an attribute that `__init__` alone sets to one."""
    number = tree.literal(rate)
    if isinstance(number, float | int):
        return number > 0
    cls = enclosing_class(source, rate)
    if cls is None or not (isinstance(rate, ast.Attribute) and source.code(rate.value) == "self"):
        return False
    found = classes.assigned(cls, rate.attr)
    return bool(found) and all(one.method == "__init__" and one.how == "assign" for one in found)
