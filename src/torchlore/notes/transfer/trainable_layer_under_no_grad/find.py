"""The rule of trainable-layer-under-no-grad."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, flow, modules, trained, tree, uses, values
from torchlore.check.events import Event
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_FIXED = re.compile(r"target|teacher|momentum|ema|frozen|fixed|rand|key_|_[kmt]$", re.IGNORECASE)
_LAYERS = re.compile(
    r"^torch\.nn\.(Linear|Conv\d?d|ConvTranspose\d?d|Embedding|LSTM|GRU|MultiheadAttention|Sequential)$"
)

_BRINGS = re.compile(
    r"\.load\(|load_state_dict|from_pretrained|pretrain|freeze|frozen|detach\(\)(?!\.clone\(\))"
)  # a copy to compare with cuts nothing
_LOADS = re.compile(r"\.load\(|load_state_dict|from_pretrained|pretrain|freeze|frozen|requires_grad")

_PLAIN = ("parameters", "train", "eval", "to", "cuda", "state_dict", "zero_grad", "named_parameters")
WORDS = ("*no_grad*|*inference_mode*",)


def find(source: Source) -> Iterator[Hit]:
    if "no_grad" not in source.text and "inference_mode" not in source.text:
        return
    yield from (*_given_to_optimizer(source), *_nets(source))
    asked = "requires_grad" in source.text
    for cls in classes.all_classes(source) if asked or ".backward(" in source.text else ():
        if classes.is_module(cls):
            yield from (*_decorated(source, cls), *_inner(source, cls))
            yield from _switch(source, cls) if asked else ()
            beside = list(_beside(source, cls)) if asked and _freezes_a_part(source.code(cls.node)) else []
            yield from beside or _blocked(source, cls)


def _freezes_a_part(code: str) -> bool:
    part = re.search(r"self\.\w+\.requires_grad_\(False\)|requires_grad\s*=\s*False|requires_grad_\(False\)", code)
    return part is not None and re.search(r"self\.requires_grad_\(|in self\.parameters\(", code) is None


def _decorated(source: Source, cls: Class) -> Iterator[Hit]:
    """A method of the model that runs without gradients, `forward` needs it, and the optimizer gets its layers."""
    own = classes.methods(cls)
    forward = own.get("forward")
    if forward is None or no_grad_around(source, forward.body[0]):
        return
    calls = tree.under(source, forward, ast.Call)
    asked = {tree.dotted(one.func).removeprefix("self.") for one in calls if not no_grad_around(source, one)}
    for name, method in own.items():
        if name not in asked or not no_grad_around(source, method.body[0]) or not trained.given_whole(source, cls):
            continue
        layers = [attr for attr in classes.own_attributes(cls) if _quiet(source, cls, attr, method)]
        if layers:
            told = f"`forward` trains through `{name}`, which runs under no_grad: `self.{layers[0]}` never learns; take the decorator off"
            place = method.decorator_list[0] if method.decorator_list else method.body[0]
            yield source.hit(place, told, severity="warning")


def _blocked(source: Source, cls: Class) -> Iterator[Hit]:
    """A `with torch.no_grad():` on the way of `forward` that takes in a new layer, which runs nowhere else, and the optimizer gets it."""
    own = classes.methods(cls)
    forward = own.get("forward")
    if forward is None or no_grad_around(source, forward.body[0]):
        return
    asked = {tree.dotted(one.func).removeprefix("self.") for one in tree.under(source, forward, ast.Call)}
    homes = [one for name, one in own.items() if name == "forward" or (name in asked and not one.decorator_list)]
    for name in classes.own_attributes(cls):
        every = trained.calls_of(source, cls, name)
        calls = [one for one in every if tree.function(source, one) in homes]
        home = tree.function(source, calls[0]) if calls else None
        if home is None or tree.conditions(source, calls[0]) or not all(no_grad_around(source, one) for one in every):
            continue
        frozen = trained.frozen(source)
        if frozen is None or _BRINGS.search(source.text):
            return
        if name not in frozen and _quiet(source, cls, name, home) and trained.given_whole(source, cls):
            told = f"`self.{name}` runs under no_grad alone, so it never learns though the optimizer gets it: end the block before it"
            yield source.hit(_block(source, calls[0]), told, severity="warning")
            return


def _inner(source: Source, cls: Class) -> Iterator[Hit]:
    """A part whose whole `forward` runs without gradients, in a model whose parameters an optimizer gets."""
    forward = classes.methods(cls).get("forward")
    if forward is None or not no_grad_around(source, forward.body[0]) or _FIXED.search(cls.node.name):
        return
    layers = [name for name in classes.own_attributes(cls) if _quiet(source, cls, name, forward)]
    maybe, surely = trained.frozen(source), trained.frozen(source, surely=True)
    if not layers or maybe is None or surely is None:
        return
    for owner in classes.all_classes(source):
        for name, found in classes.own_attributes(owner).items():
            made = found[0].value if len(found) == 1 and isinstance(found[0].value, ast.Call) else None
            behind = [classes.class_behind(source, one) for one in source.values(made)] if made is not None else []
            if behind != [cls] or name in surely or _FIXED.search(name) or not trained.given_whole(source, owner):
                continue
            if name in maybe or not _BRINGS.search(source.text):
                told = f"`self.{name}` of `{owner.node.name}` runs under no_grad, so it never learns though the optimizer gets it: take it off"
                place = forward.decorator_list[0] if forward.decorator_list else forward.body[0]
                yield source.hit(place, told, severity="warning")
                return


def _block(source: Source, call: ast.AST) -> ast.AST:
    """The `with torch.no_grad():` around a call."""
    around = (up for up in tree.ancestors(source, call) if isinstance(up, ast.With))
    return next((up for up in around if re.search("grad|inference", source.code(up.items[0].context_expr))), call)


def _nets(source: Source) -> Iterator[Hit]:
    """`with torch.no_grad(): z = encoder(x)` in every step, of an encoder made here whose parameters an optimizer gets."""
    given = {
        tree.dotted(tree.receiver(one))
        for one in source.methods("parameters")
        if trained.reaches_optimizer(source, one)
    }
    for name in sorted(given) if len(given) > 1 and not _LOADS.search(source.text) and flow.may_train(source) else ():
        bare = name.removeprefix("self.")
        if not bare.isidentifier() or _FIXED.search(name) or not _only_run(source, bare, own=bare != name):
            continue
        steps = [turn for turn in flow.rounds(source) if any(one.what == "backward" for one in turn)]
        runs = [one for turn in steps for one in turn if one.what == "forward" and _is_net(one, name)]
        made = source.values(runs[0].expr) if runs and runs[0].expr is not None else ()
        fresh = bool(made) and all(modules.has_parameters(one) or one == values.Value("module") for one in made)
        if fresh and all(one.no_grad for one in runs) and runs[0].source is source:
            told = f"`{name}` runs under no_grad in every step, so it never learns though the optimizer gets it: end the block before it"
            yield source.hit(_block(source, runs[0].node), told, severity="warning")


def _is_net(event: Event, name: str) -> bool:
    return event.expr is not None and tree.dotted(event.expr) == name


def _only_run(source: Source, name: str, *, own: bool) -> bool:
    """Whether the net is called, moved, switched and given to the optimizer by its name (`self.name`), and nothing else."""
    for use in uses.attributes(source, name) if own else uses.names(source, name):
        up = source.parents[use]
        called = isinstance(up, ast.Call) and up.func is use
        plain = isinstance(up, ast.Attribute) and up.attr in _PLAIN
        if isinstance(use.ctx, ast.Load) and not called and not plain:
            return False
    return True


def _quiet(source: Source, cls: Class, name: str, method: tree.FunctionNode) -> bool:
    """A layer with new weights, called in the method and elsewhere without gradients only."""
    called = trained.calls_of(source, cls, name)
    here = any(tree.function(source, one) is method for one in called)
    return here and all(no_grad_around(source, one) for one in called) and trained.fresh(source, cls, name)


def _given_to_optimizer(source: Source) -> Iterator[Hit]:
    """A part whose parameters the optimizer is given by name, and which only ever runs under `no_grad`."""
    named = dict[str, ast.Call]()
    for call in source.methods("parameters"):
        part = tree.receiver(call)
        if isinstance(part, ast.Attribute) and trained.reaches_optimizer(source, call):
            named.setdefault(part.attr, call)
    if not named or re.search(r"requires_grad|\bdetach(?!\(\)\.clone\(\))|GradScaler\b.*Gen", source.text):
        return
    for name in named:
        used = [one for one in uses.attributes(source, name) if _is_called(source, one)]
        if used and all(no_grad_around(source, one) for one in used) and _in_forward(source, used[0]):
            told = f"`{source.code(used[0])}` runs under no_grad alone, and the optimizer of line {named[name].lineno} is given its parameters: it never learns; end the block before it"
            yield source.hit(used[0], told)


def _is_called(source: Source, one: ast.Attribute) -> bool:
    up = source.parents[one]
    inside = (
        isinstance(up, ast.Attribute) and isinstance(source.parents[up], ast.Call) and up.attr.startswith("forward")
    )
    return (isinstance(up, ast.Call) and up.func is one) or inside


def _in_forward(source: Source, node: ast.AST) -> bool:
    """Whether `forward` runs this with its graph, in its own lines or in a method that it calls."""
    home, cls = tree.function(source, node), tree.class_of(source, node)
    if home is None or cls is None:
        return False
    ways = [
        one
        for one in cls.body
        if isinstance(one, tree.FunctionNode) and one.name == "forward" and not one.decorator_list
    ]
    asked = [one for way in ways for one in tree.under(source, way, ast.Call) if not no_grad_around(source, one)]
    return home in ways or any(tree.dotted(one.func) == f"self.{home.name}" for one in asked)


def _switch(source: Source, cls: Class) -> Iterator[Hit]:
    """`self.requires_grad_(tune)` in a class whose forward pass runs under `no_grad` whole."""
    forward = classes.methods(cls).get("forward")
    quiet = forward is not None and no_grad_around(source, forward.body[0])
    asked = [call for call in tree.under(source, cls.node, ast.Call) if tree.dotted(call.func) == "self.requires_grad_"]
    for call in asked if quiet else ():
        if call.args and tree.literal(call.args[0]) is tree.UNKNOWN and forward is not None:
            told = f"`forward` runs under no_grad, so nothing here can be trained, whatever `{source.code(call.args[0])}` says: take the decorator off"
            yield source.hit(forward.decorator_list[0] if forward.decorator_list else forward, told)


def _beside(source: Source, cls: Class) -> Iterator[Hit]:
    """A new layer that is called under `no_grad` alone, in a class that freezes another part by name."""
    own, forward = classes.own_attributes(cls), classes.methods(cls).get("forward")
    if forward is not None and forward.decorator_list and no_grad_around(source, forward.body[0]):
        return  # the whole of it is there for its answer
    for name, found in own.items():
        made = found[0].value if len(found) == 1 and found[0].method == "__init__" else None
        called = trained.calls_of(source, cls, name) if isinstance(made, ast.Call) and not _FIXED.search(name) else []
        if made is None or not called or not all(no_grad_around(source, one) for one in called):
            continue
        if re.search(rf"\.{name}\.(parameters|requires_grad|eval|load|weight\b|bias\b)", source.text):
            continue
        if any(_LAYERS.match(one.name) and not modules.parameterless(one) for one in values.values(source, made)):
            told = f"`self.{name}` runs under no_grad alone and is not frozen by name: it never learns; end the block before it"
            yield source.hit(called[0], told, severity="warning")  # another method may move it
