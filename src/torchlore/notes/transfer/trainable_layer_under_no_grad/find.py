"""The rule of trainable-layer-under-no-grad."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import classes, modules, trained, tree, values
from torchlore.check.project import Class
from torchlore.check.source import Hit, Source
from torchlore.check.tensors import no_grad_around

_FIXED = re.compile(r"target|teacher|momentum|ema|frozen|fixed|rand|key_|_k$|_t$", re.IGNORECASE)
_LAYERS = re.compile(
    r"^torch\.nn\.(Linear|Conv\d?d|ConvTranspose\d?d|Embedding|LSTM|GRU|MultiheadAttention|Sequential)$"
)


def find(source: Source) -> Iterator[Hit]:
    if "no_grad" not in source.text and "inference_mode" not in source.text:
        return
    asked = "requires_grad" in source.text
    for cls in classes.all_classes(source) if asked or ".backward(" in source.text else ():
        if classes.is_module(cls):
            yield from _decorated(source, cls)
        if asked and classes.is_module(cls):
            yield from _switch(source, cls)
            code = source.code(cls.node)
            if re.search(r"self\.\w+\.requires_grad_\(False\)|requires_grad\s*=\s*False|requires_grad_\(False\)", code):
                whole = re.search(r"self\.requires_grad_\(|in self\.parameters\(", code)
                yield from _beside(source, cls) if whole is None else ()


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


def _quiet(source: Source, cls: Class, name: str, method: tree.FunctionNode) -> bool:
    """A layer with new weights, called in the method and elsewhere without gradients only."""
    called = trained.calls_of(source, cls, name)
    here = any(tree.function(source, one) is method for one in called)
    return here and all(no_grad_around(source, one) for one in called) and trained.fresh(source, cls, name)


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
    own = classes.own_attributes(cls)
    for name, found in own.items():
        made = found[0].value if len(found) == 1 and found[0].method == "__init__" else None
        if (
            made is None
            or _FIXED.search(name)
            or re.search(rf"\.{name}\.(parameters|requires_grad|eval|load)", source.text)
        ):
            continue
        layer = [
            one for one in values.values(source, made) if _LAYERS.match(one.name) and not modules.parameterless(one)
        ]
        called = [one for one in tree.under(source, cls.node, ast.Call) if tree.dotted(one.func) == f"self.{name}"]
        if layer and called and all(no_grad_around(source, one) for one in called) and isinstance(made, ast.Call):
            told = f"`self.{name}` runs under no_grad alone and is not frozen by name: it never learns; end the block before it"
            yield source.hit(called[0], told)
