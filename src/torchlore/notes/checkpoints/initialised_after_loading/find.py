"""The rule of initialised-after-loading."""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from torchlore.check import calls, flow, follow, project, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_FILLS = regex(
    r"\binit\.\w+_\(|\b(?:normal_|uniform_|fill_|zeros?_|ones_|constant_|xavier_\w+|kaiming_\w+|trunc_normal_|orthogonal_)\("
)
_STARTS = regex(r"init|reset")
_CHOOSES = regex(r"\bnot\b.*load|missing|unexpected|requires_grad|pretrained")
_WHOLE = regex(r"self\.(?:modules|named_modules|parameters|named_parameters|apply)\(")
_WALKS = ("parameters", "named_parameters", "modules")
_LEAVES = {f"torch.nn.{kind}" for kind in ("Embedding", "EmbeddingBag", "Linear", "Conv1d", "Conv2d", "LSTM", "GRU")}
Load = tuple[str, ast.Call]  # the net's name, and the call that fills it
WORDS = ("load_state_dict|copy_|from_pretrained|*apply*|*modules*",)


def find(source: Source) -> Iterator[Hit]:
    plain = list(_loads(source))
    asked = "apply(" in source.text or "modules(" in source.text
    filled = [*_fillings(source), *_loops(source)] if plain or asked else []
    loads = [*plain, *(_comes_filled(source, filled) if filled and asked else ())]
    seen = set[ast.Call]()
    for name, load in loads:
        home = tree.function(source, load)
        for whole, call in filled:
            later = call not in seen and _holds(whole, name) and call.lineno > load.lineno
            later = later and tree.function(source, call) is home and _writes(source, call, whole=whole == name)
            later = later and _always(source, call, load) and not _left_alone(source, call, load)
            if later and not _loaded_again(source, loads, (name, load), call):
                seen.add(call)
                yield source.hit(
                    call,
                    f"this writes over the weights that `{name}` loaded on line {load.lineno}: initialise first, then load",
                )


def _loads(source: Source) -> Iterator[Load]:
    """`net.load_state_dict(...)`, and `self.body = Net.from_pretrained(...)`."""
    for one in source.methods("load_state_dict"):
        if tree.dotted(tree.receiver(one)) and one.args:
            yield tree.dotted(tree.receiver(one)), one
    for one in source.methods("copy_"):
        whole, _, last = tree.dotted(tree.receiver(one)).removesuffix(".data").rpartition(".")
        if last == "weight" and whole and len(one.args) == 1 and tree.is_statement(source, one):
            yield whole, one
    for one in source.methods("from_pretrained"):
        up = source.parents[one]
        if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Attribute) and tree.dotted(up.targets[0]):
            yield tree.dotted(up.targets[0]), one


def _comes_filled(source: Source, filled: list[Load]) -> Iterator[Load]:
    """`self.body = resnet18(weights="DEFAULT")`, in a function that fills some of it."""
    homes = {(tree.function(source, call), whole) for whole, call in filled}
    for held in uses.assigns(source, ast.Attribute, ast.Call):
        name, call = tree.dotted(held.targets[0]), held.value
        mine = [home for home, whole in homes if _holds(whole, name)] if name.startswith("self.") else []
        if mine and isinstance(call, ast.Call) and tree.function(source, call) in mine and _comes_loaded(source, call):
            yield name, call


def _comes_loaded(source: Source, call: ast.Call) -> bool:
    """`resnet18(weights="DEFAULT")`, or the call of a function that loads what it returns."""
    if source.name(call.func).startswith(("torchvision.models.", "timm.")):
        weights, old = tree.argument(call, None, "weights"), tree.argument(call, None, "pretrained")
        return (weights is not None and tree.literal(weights) is not None) or tree.literal(old) is True
    made = source.project.resolve(source, call.func)
    if not isinstance(made, project.Function) or made.node.name == "__init__":
        return False
    back = {tree.dotted(one) for one in calls.returned(made)}
    loads = [one for one in tree.under(made.source, made.node, ast.Call) if follow.method(one) == "load_state_dict"]
    plain = [one for one in loads if not tree.conditions(made.source, one)]
    return len(back) == 1 and any(tree.dotted(tree.receiver(one)) in back for one in plain)


@lru_cache(maxsize=8192)
def _starts(name: str) -> bool:
    """Whether a function is called as if it gave weights their first numbers."""
    return _STARTS.search(name.lower()) is not None


def _fillings(source: Source) -> Iterator[Load]:
    """What `net.apply(init)`, `init(net)` and `net.init_weights()` may fill, by their names, and the call."""
    for call in source.methods("apply"):
        if len(call.args) == 1 and (whole := tree.dotted(tree.receiver(call))):
            yield whole, call
    for call in source.all(ast.Call):
        func = call.func
        last = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if not _starts(last):
            continue
        named = isinstance(func, ast.Name) and len(call.args) == 1
        given = call.args[0] if named else func.value if isinstance(func, ast.Attribute) and not call.args else None
        if given is not None and (whole := tree.dotted(given)):
            yield whole, call


def _writes(source: Source, call: ast.Call, *, whole: bool) -> bool:
    """Whether the function that is run fills weights with numbers: of the whole net, or of what else its initialiser asks for."""
    way = follow.method(call)
    if way in _WALKS:
        return True
    if way == "apply":
        return _fills(source, call.args[0]) and (whole or _asked(source, call.args[0]) != {"torch.nn.LayerNorm"})
    if not way:
        return _fills(source, call.func)
    made = flow.called(source, call)
    code = made.source.code(made.node) if made is not None else ""
    return bool(_WHOLE.search(code) and _FILLS.search(code) and not _CHOOSES.search(code))


def _left_alone(source: Source, call: ast.Call, load: ast.Call) -> bool:
    """An embedding that was filled, and an initialiser that asks for `nn.Linear` alone."""
    kinds = _asked(source, call.args[0]) if follow.method(call) == "apply" and call.args else set()
    net: ast.expr | None = tree.receiver(load)
    while isinstance(net, ast.Attribute) and net.attr in ("data", "weight"):
        net = net.value
    found = source.values(net) if kinds and net is not None else ()
    return bool(found) and all(one.name in _LEAVES - kinds for one in found)


def _asked(source: Source, given: ast.expr) -> set[str]:
    """The kinds of layer that an initialiser asks for."""
    name = tree.dotted(given).rpartition(".")[2]
    made = next((one for one in source.all(ast.FunctionDef) if one.name == name), None)
    asked = tree.under(source, made, ast.Call) if made is not None else []
    given_kinds = [one.args[1] for one in asked if source.name(one.func) == "isinstance" and len(one.args) == 2]
    return {source.name(kind) for one in given_kinds for kind in (one.elts if isinstance(one, ast.Tuple) else [one])}


def _loops(source: Source) -> Iterator[Load]:
    """`for p in net.parameters(): nn.init.xavier_uniform_(p)`, with no more than a question for the number of dimensions."""
    for loop in source.all(ast.For) if "init." in source.text else ():
        over = loop.iter
        if follow.method(over) not in _WALKS or not isinstance(over, ast.Call):
            continue
        whole = tree.dotted(tree.receiver(over))
        if not whole or not _FILLS.search(source.code(loop)):
            continue
        tests = " ".join(source.code(one.test) for one in tree.under(source, loop, ast.If))
        if not re.search(
            r"[\"']|name|isinstance|requires_grad|is not|continue", tests + source.code(loop.body[0]).partition("\n")[0]
        ):
            yield whole, over


def _holds(one: str, name: str) -> bool:
    """Whether `self` or `self.net` holds the `self.net.body` that was loaded."""
    return bool(one) and (one == name or name.startswith(f"{one}."))


def _fills(source: Source, node: ast.expr) -> bool:
    found = source.project.resolve(source, node)
    owner = tree.class_of(source, node)
    if found is None and owner is not None and isinstance(node, ast.Attribute) and tree.dotted(node.value) == "self":
        found = source.project.method(project.as_class(source, owner), node.attr)
    code = found.source.code(found.node) if isinstance(found, project.Function) else ""
    return bool(_FILLS.search(code)) and not _CHOOSES.search(code)


def _always(source: Source, call: ast.Call, load: ast.Call) -> bool:
    """Whether the call is made whenever the weights were loaded."""
    own, others = tree.conditions(source, call), tree.conditions(source, load)
    inner = [one for one in tree.loops(source, load) if one not in tree.loops(source, call)]
    return all(one in others for one in own) and not inner and not _instead(source, call, load)


def _instead(source: Source, call: ast.Call, load: ast.Call) -> bool:
    """`try: net.load_state_dict(...)`, `except FileNotFoundError: net.apply(init)`."""
    handlers = [up for up in tree.ancestors(source, call) if isinstance(up, ast.ExceptHandler)]
    return any(tree.inside(source, load, source.parents[one]) for one in handlers)


def _loaded_again(source: Source, loads: list[Load], load: Load, call: ast.Call) -> bool:
    """Whether another load follows, or the name is another network by then."""
    name, home = load[0], tree.function(source, call)
    bound = any(tree.dotted(one.targets[0]) == name and tree.function(source, one) is home
                and load[1].lineno < one.lineno <= call.lineno for one in source.all(ast.Assign))  # fmt: skip
    again = any(other == name and one.lineno > call.lineno and tree.function(source, one) is home
                for other, one in loads)  # fmt: skip
    return again or bound
