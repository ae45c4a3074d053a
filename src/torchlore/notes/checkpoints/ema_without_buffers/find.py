"""The rule of ema-without-buffers."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import averages, calls, classes, frameworks, modules, project, tree
from torchlore.check.identity import Identity, identity
from torchlore.check.source import Hit, Source

_CARES = (
    "buffers(",
    "update_bn",
    "running_mean",
    "state_dict().",
    "state_dict().items",
    "AveragedModel",
    "copy_buffers",
)
WORDS = ("zip", "eval", "parameters|named_parameters", "*BatchNorm*|*torchvision*")


def find(source: Source) -> Iterator[Hit]:
    if "BatchNorm" not in source.text and "torchvision" not in source.text:
        return
    if any(word in source.text for word in _CARES) or "zip(" not in source.text:
        return
    for one in averages.averages(source):
        owner = identity(source, one.average)
        judged = owner is not None and any(owner in _judged(source, call) for call in source.methods("eval"))
        judged = judged or _judged_whole(source, one.loop) or _judged_by(source, owner)
        if judged and not frameworks.owned(source, one.loop) and _normalises(source, one.average, one.model):
            code = source.code(one.average)
            if _switched(source, tree.dotted(one.average)):
                continue
            told = (
                f"`{code}` gets the weights and keeps its first batch norm statistics: copy `{code}.buffers()` as well"
            )
            yield source.hit(one.loop, told)


def _judged(source: Source, call: ast.Call) -> list[Identity | None]:
    """The nets `x.eval()` is said of: `x`, and what is given the result."""
    up = source.parents[call]
    given = up.targets if isinstance(up, ast.Assign) and up.value is call else []
    return [identity(source, one) for one in (tree.receiver(call), *given)]


def _switched(source: Source, name: str) -> bool:
    """`average.apply(batch_norm_to_train)`: it counts statistics of its own."""
    given = [one.args[0] for one in source.methods("apply") if tree.dotted(tree.receiver(one)) == name and one.args]
    return any(re.search(r"bn|norm|train", source.code(one), re.IGNORECASE) for one in given)


def _judged_whole(source: Source, loop: ast.For) -> bool:
    """Whether `eval()` is said of the wrapper whose method moves the average, and never `train()`, in which it counts by itself."""
    home = project.enclosing_class(source, loop)
    trained = [one for call in source.methods("train") for one in source.values(tree.receiver(call))] if home else []
    if any(classes.class_behind(source, one) == home for one in trained):
        return False
    made = (
        [one for call in source.methods("eval") for one in source.values(tree.receiver(call))]
        if home is not None
        else []
    )
    return any(classes.class_behind(source, one) == home for one in made)


def _judged_by(source: Source, owner: Identity | None) -> bool:
    """Whether the average is given to a function that says `eval()` of that argument: `validate(ema_model)`."""
    for call in source.methods("eval") if owner is not None else ():
        name, home = tree.dotted(tree.receiver(call)), tree.function(source, call)
        names = [one.arg for one in tree.parameters(home)] if home is not None else []
        for where, given, shift in calls.callers(project.as_function(source, home)) if name in names and home else ():
            passed = tree.argument(given, names.index(name) - shift, name)
            if passed is not None and where is source and identity(source, passed) == owner:
                return True
    return False


def _normalises(source: Source, *nets: ast.expr) -> bool:
    """Whether the net surely has layers that differ between training and evaluation."""
    found = [value for net in nets for value in source.values(net)]
    return any(modules.mode_layers(source, value) is True for value in found)
