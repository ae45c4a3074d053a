"""The rule of initialiser-reaches-nothing."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from torchlore.check import classes, edits, follow, scopes, tree, uses, values
from torchlore.check.project import Class, Function, enclosing_class, in_notebooks
from torchlore.check.source import Hit, Source

_WORDS = (
    "init_weight",
    "initialize_",
    "initialise_",
    "reset_param",
    "reset_weight",
    "weight_init",
    "weights_init",
    "init_param",
    "params_init",
)
_NAMES = re.compile(
    r"^_*(init|initialize|initialise|reset)_*(weights?|params|parameters|layers?|modules?)?_*$|^_*(weights?|params|layers?)_*init_*$"
)
_WALKS = {"modules", "children", "named_modules", "named_children"}
_WEIGHTS = tuple(f"torch.nn.{name}" for name in ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "LSTM", "GRU",
                                                  "Embedding", "ConvTranspose3d", "RNN", "Bilinear"))  # fmt: skip
_FOREIGN = re.compile(
    r"torchvision\.models|\btimm\b|transformers|segmentation_models|monai|mmcv|mmengine|detectron|lightning|import \*"
)
WORDS = ("apply|modules|children|named_modules|named_children|weight_norm|init",)


def find(source: Source) -> Iterator[Hit]:
    yield from (*_compared(source), *_normed(source))
    if "nn.init" not in source.text and "nn import init" not in source.text:
        return
    yield from (*_fills_a_copy(source), *_of_another_loop(source))
    never = [*_never_called(source), *_never_applied(source)]
    named = never and (any(word in source.text for word in _WORDS) or "def _init" in source.text)
    found = [*(never if named else ()), *_asks_for_others(source)]
    yield from found if found and not _FOREIGN.search(source.text) else ()


def _asks_for_others(source: Source) -> Iterator[Hit]:
    """`net.apply(init)`, where `init` asks for kinds of layers of which this file makes none."""
    for call in source.methods("apply"):
        found = _initialiser(source, call.args[0]) if len(call.args) == 1 else None
        tests = _asked(source, found.node) if isinstance(found, Function) and found.source is source else []
        asked = {name for _, names in tests for name in names}
        if not tests or not asked <= set(_WEIGHTS) or any(source.calls(*asked)) or not any(source.calls(*_WEIGHTS)):
            continue
        if values.sure(source, tree.receiver(call), "module") and _own(source, tree.receiver(call)):
            kinds = ", ".join(sorted(name.rpartition(".")[2] for name in asked))
            yield source.hit(
                tests[0][0],
                f"no {kinds} is made in this file, so `{source.code(call)}` changes nothing: ask for the layers that are",
            )


def _normed(source: Source) -> Iterator[Hit]:
    """`conv.weight.data.normal_(...)` of `conv = weight_norm(nn.Conv1d(...))`, which makes its weight anew at every call."""
    if "weight_norm" not in source.text or "parametrizations" in source.text:
        return
    normed = {
        tree.dotted(held.targets[0])
        for held in (source.parents[one] for one in source.calls("torch.nn.utils.weight_norm"))
        if isinstance(held, ast.Assign) and tree.dotted(held.targets[0])
    }
    filled = [(call, tree.receiver(call)) for call in source.methods("normal_", "uniform_", "fill_", "zero_", "copy_")]
    filled += [(call, call.args[0]) for call, name in uses.calls_under(source, "torch.nn.init.") if call.args]
    for call, weight in filled:
        inner = weight.value if isinstance(weight, ast.Attribute) and weight.attr == "data" else weight
        layer = inner.value if isinstance(inner, ast.Attribute) and inner.attr == "weight" else None
        names = {tree.dotted(one) for one in _meant(source, layer)} if layer is not None else set()
        owner = tree.class_of(source, call)
        near = owner is not None or tree.function(source, call) is not None
        if names and names <= normed and near and _after_norm(source, call, names):
            told = "weight_norm makes this weight anew from `weight_g` and `weight_v` at every call, so the numbers are lost: initialise first, then wrap"
            yield source.hit(call, told)


def _meant(source: Source, layer: ast.expr) -> list[ast.expr]:
    """The layer, or those that `for conv in (self.a, self.b)` goes over."""
    bound = scopes.reaching(source, layer) if isinstance(layer, ast.Name) else []
    over = bound[0].value if len(bound) == 1 and bound[0].how == "for" else None
    return list(over.elts) if isinstance(over, ast.Tuple | ast.List) else [layer]


def _after_norm(source: Source, call: ast.Call, names: set[str]) -> bool:
    """Whether the wrapping stands above, in the same function or in `__init__`."""
    home = tree.function(source, call)
    wraps = [one for one in source.calls("torch.nn.utils.weight_norm") if isinstance(source.parents[one], ast.Assign)]
    mine = [one for one in wraps if tree.dotted(source.parents[one].targets[0]) in names]  # type: ignore[attr-defined]  # an assignment
    above = all(tree.function(source, one) is home and one.lineno < call.lineno for one in mine)
    return bool(mine) and above and not any(_other_branch(source, one, call) for one in mine)


def _other_branch(source: Source, wrap: ast.Call, call: ast.Call) -> bool:
    """`if normed: conv = weight_norm(conv)`, and further down `if normed: ... else: fill(conv.weight)`."""
    tests = {source.code(up.test) for up in tree.ancestors(source, wrap) if isinstance(up, ast.If)}
    around = [up for up in tree.ancestors(source, call) if isinstance(up, ast.If) and source.code(up.test) in tests]
    return any(tree.inside(source, call, one) for up in around for one in up.orelse)


def _compared(source: Source) -> Iterator[Hit]:
    """`if m == nn.Linear`, of a layer that `apply` or a loop over the modules hands out: a layer is never its class."""
    for test in source.all(ast.Compare) if any(source.methods("apply", *_WALKS)) else ():
        if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq | ast.Is) or not isinstance(test.left, ast.Name):
            continue
        kind = source.name(test.comparators[0])
        if not kind.startswith("torch.nn.") or not kind.rpartition(".")[2][:1].isupper():
            continue
        if _is_layer(source, test.left):
            layer, cls = test.left.id, source.code(test.comparators[0])
            right = f"isinstance({layer}, {cls})"
            told = f"`{layer}` is a layer and never equal to the class `{cls}`, so nothing below runs: write `{right}`"
            yield source.hit(test, told, edits.replace(source, test, right))


def _fills_a_copy(source: Source) -> Iterator[Hit]:
    """`nn.init.kaiming_normal_(m.weight.clone())`, also by way of a name that nothing else reads."""
    for call, name in uses.calls_under(source, "torch.nn.init."):
        given = call.args[0] if call.args and name.endswith("_") and tree.is_statement(source, call) else None
        made = follow.binding(source, given) if isinstance(given, ast.Name) else given
        weight = _copied(made) if made is not None else None
        if weight is None or (isinstance(given, ast.Name) and _read_elsewhere(source, given)):
            continue
        told = f"this fills a copy of `{source.code(weight)}`, and the layer keeps its own: give it `{source.code(weight)}`"
        yield source.hit(call, told)


def _read_elsewhere(source: Source, given: ast.Name) -> bool:
    """Whether the function does more with a name than to bind it and fill it."""
    home = tree.function(source, given)
    return sum(tree.function(source, one) is home for one in uses.names(source, given.id)) > 2


def _copied(made: ast.expr) -> ast.expr | None:
    """`m.weight` of `m.weight.detach().clone()`, or of `copy.deepcopy(m.weight)`."""
    copied = isinstance(made, ast.Call) and (
        follow.method(made) == "clone" or tree.dotted(made.func).endswith("deepcopy")
    )
    inner = follow.peeled(made, ("clone", "detach", "cpu", "float"))
    if isinstance(made, ast.Call) and tree.dotted(made.func).endswith("deepcopy") and made.args:
        inner = made.args[0]
    inner = inner.value if isinstance(inner, ast.Attribute) and inner.attr == "data" else inner
    held = isinstance(inner, ast.Attribute) and inner.attr in ("weight", "bias")
    return inner if copied and held else None


def _is_layer(source: Source, name: ast.Name) -> bool:
    """Whether a loop over modules binds it, or it is the one parameter of a function that is given to `apply`."""
    bound = scopes.reaching(source, name)
    if any(one.how != "parameter" for one in bound):
        looped = [follow.method(one.value) in _WALKS for one in bound if one.how == "for" and one.value is not None]
        return len(looped) == len(bound) and all(looped)
    home = tree.function(source, name)
    given = {arg.id for call in source.methods("apply") for arg in call.args if isinstance(arg, ast.Name)}
    return home is not None and home.name in given and len(tree.parameters(home)) == 1


def _initialiser(source: Source, given: ast.expr) -> Function | Class | None:
    """The function, or the method of the class around it, that `apply` is given."""
    cls = enclosing_class(source, given) if tree.dotted(given).startswith("self.") else None
    if cls is not None and isinstance(given, ast.Attribute):
        return source.project.method(cls, given.attr)
    return source.project.resolve(source, given)


def _asked(source: Source, function: ast.AST) -> list[tuple[ast.AST, list[str]]]:
    """The classes that an initialiser asks for; none where it does something without asking."""
    found: list[tuple[ast.AST, list[str]]] = []
    for call in tree.under(source, function, ast.Call):
        if source.name(call.func) == "isinstance" and len(call.args) == 2:
            kinds = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
            found.append((call, [source.name(one) for one in kinds]))
        elif source.name(call.func).startswith("torch.nn.init.") and not tree.conditions(source, call):
            return []
    for test in tree.under(source, function, ast.Compare):
        left = test.left
        if (
            isinstance(left, ast.Call)
            and source.name(left.func) == "type"
            and isinstance(test.ops[0], ast.Eq | ast.Is | ast.In)
        ):
            given = test.comparators[0]
            kinds = given.elts if isinstance(given, ast.Tuple | ast.List | ast.Set) else [given]
            found.append((test, [source.name(one) for one in kinds]))
    return found


def _own(source: Source, model: ast.expr) -> bool:
    """Whether the model is made of layers that stand in this file."""
    imported = {full for full in source.names.imported.values() if not full.startswith("torch.")}
    built = {source.name(one.func) for one in source.all(ast.Call) if tree.class_of(source, one) is not None}
    if any(full.rpartition(".")[2][:1].isupper() for full in built & imported):
        return False
    return all(
        value.source is source
        and (value.name.startswith("torch.nn.") or classes.class_behind(source, value) is not None)
        for value in source.values(model)
    ) and bool(source.values(model))


@lru_cache(maxsize=8192)
def _is_named(name: str) -> bool:
    """`init_weights`, `reset_parameters`, `weights_init`."""
    return _NAMES.match(name) is not None


def _never_applied(source: Source) -> Iterator[Hit]:
    """`def init_weights(m): nn.init...(m.weight)` of a script that trains, and nobody mentions it."""
    for method in (one for one in source.tree.body if isinstance(one, ast.FunctionDef) and _is_named(one.name)):
        given = [arg.arg for arg in tree.parameters(method)]
        inits = [
            one for one in tree.under(source, method, ast.Call) if source.name(one.func).startswith("torch.nn.init.")
        ]
        mine = [one for one in inits if one.args and tree.dotted(one.args[0]).partition(".")[0] in given]
        if not mine or len(given) != 1 or not any(source.methods("backward")) or _mentioned(source, method.name):
            continue
        if _loads_at_once(source):
            continue
        if not source.project.importers(source.module) and not in_notebooks(source.project, method.name):
            yield source.hit(
                method, f"nobody calls `{method.name}`, so all layers keep their defaults: `model.apply({method.name})`"
            )


def _loads_at_once(source: Source) -> bool:
    """`net.load_state_dict(torch.load(path))` in the script itself: nobody sees the weights that it starts with."""
    asked = (call for call in source.methods("load_state_dict") if tree.function(source, call) is None)
    return any(all("__name__" in source.code(test) for test, _ in tree.conditions(source, call)) for call in asked)


def _mentioned(source: Source, name: str) -> bool:
    """Whether a name is read, asked for as text, or switched off by a comment."""
    read = bool(uses.attributes(source, name)) or bool(uses.names(source, name))
    return read or re.search(rf"\"{name}\"|#.*\b{name}\b", source.text) is not None


def _never_called(source: Source) -> Iterator[Hit]:
    """A class that is made here has a method `init_weights`, and nobody mentions it."""
    for cls in classes.all_classes(source):
        for name, method in classes.methods(cls).items():
            if not _is_named(name) or not any(source.calls(cls.qualified)):
                continue
            inner = (source.name(one.func) for one in tree.under(source, method, ast.Call))
            inits = any(one.startswith("torch.nn.init.") for one in inner)
            quiet = _mentioned(source, name) or _called_elsewhere(source, name)
            if inits and _plain(source, cls) and classes.is_module(cls) and not quiet:
                yield source.hit(
                    method,
                    f"nobody calls `{name}`, so the layers of `{cls.node.name}` keep their defaults: call it in `__init__`",
                )


def _called_elsewhere(source: Source, name: str) -> bool:
    """`self.decoder._reset_parameters()` in a file that imports this one."""
    texts = (source.project.text(path) or "" for path in source.project.importers(source.module))
    return in_notebooks(source.project, name) or any(
        re.search(rf"\.\w+\.{name}\(|(?<!self)\.{name}\(", text) for text in texts
    )


def _plain(source: Source, cls: Class) -> bool:
    """Whether the only base is nn.Module: others may call the method themselves."""
    return [source.name(base) for base in cls.node.bases] == ["torch.nn.Module"]


def _of_another_loop(source: Source) -> Iterator[Hit]:
    """`for m in decoder: init.xavier_uniform_(w)`, where `w` is what a loop above left."""
    for call, _ in uses.calls_under(source, "torch.nn.init."):
        loop = next(iter(tree.loops(source, call)), None)
        given = call.args[0] if call.args else None
        while isinstance(given, ast.Attribute):
            given = given.value
        if not isinstance(loop, ast.For) or not isinstance(given, ast.Name):
            continue
        own = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        bound = scopes.reaching(source, given) if own and given.id not in own else []
        left = [one for one in bound if one.how == "for" and not tree.inside(source, loop, one.statement)]
        if not bound or len(left) != len(bound):
            continue
        if own.isdisjoint(one.id for part in loop.body for one in ast.walk(part) if isinstance(one, ast.Name)):
            last = next(one.id for one in reversed(list(ast.walk(loop.target))) if isinstance(one, ast.Name))
            told = f"`{given.id}` is the last one of the loop in line {left[0].statement.lineno}, and is filled again and again: write `{last}`"  # type: ignore[attr-defined]  # a statement
            yield source.hit(call, told)
