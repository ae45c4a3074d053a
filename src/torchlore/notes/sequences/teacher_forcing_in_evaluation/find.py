"""The rule of teacher-forcing-in-evaluation."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import averages, calls, classes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.project import Class, Function
from torchlore.check.source import Hit, Source

_RATIO = regex(r"teacher_?forc|forcing_?(ratio|prob|rate)|^tf_?(ratio|prob|rate)$|teacher_?(ratio|prob)", re.IGNORECASE)
_SAID = regex(r"teacher_?forc|forcing_?(ratio|prob|rate)|tf_?(ratio|prob|rate)|teacher_?(ratio|prob)", re.IGNORECASE)
_PARTS = ("forcing", "teacher", "tf_r", "tf_p", "tfr", "tfp")  # one of them is in it
_OFF = {"torch.no_grad", "torch.inference_mode"}
_EVALUATES = regex(r"^_*(val|valid|validate|validation|eval|evaluate|evaluation|test)(_|$)", re.IGNORECASE)

WORDS = ("forward",)


def find(source: Source) -> Iterator[Hit]:
    if not uses.says(source, *_PARTS) or not _SAID.search(source.text):
        return
    for cls in classes.all_classes(source):
        forward = source.project.method(cls, "forward") if classes.is_module(cls) else None
        if forward is None or forward.source is not source or ".training" in source.code(forward.node):
            continue
        given = [one for one in tree.parameters(forward.node) if _RATIO.search(one.arg)]
        if not given and not _SAID.search(source.code(forward.node)):
            continue
        read = [call for call in source.all(ast.Call) if _evaluated(source, call) and _is(source, call, cls)]
        for call in read if given else ():
            ratio = _ratio(source, forward, call, given[0])
            if ratio is not None and 0 < ratio < 1:
                told = f"the decoder is handed the true words at {ratio:.0%} of its steps while it is evaluated"
                yield source.hit(call, f"{told}: pass `{given[0].arg}=0`")
        if read and not given:
            yield from _kept(source, cls, forward)


def _kept(source: Source, cls: Class, forward: Function) -> Iterator[Hit]:
    """`random.random() < self.teacher_forcing_ratio` in `forward`, and nobody sets it to anything else."""
    for one in tree.under(source, forward.node, ast.Compare):
        sides = [one.left, *one.comparators]
        own = (side for side in sides if tree.dotted(side).startswith("self."))
        held = next((side for side in own if _RATIO.search(tree.dotted(side).rpartition(".")[2])), None)
        drawn = any("rand" in source.code(side) for side in sides)
        name = tree.dotted(held).rpartition(".")[2] if held is not None else ""
        stored = [use for use in uses.attributes(source, name) if isinstance(use.ctx, ast.Store)]
        ratio = averages.number(source, held) if held is not None and drawn and len(stored) == 1 else None
        if ratio is not None and 0 < ratio < 1 and classes.assigned(cls, name):
            told = f"the decoder is handed the true words at {ratio:.0%} of its steps in evaluation too"
            yield source.hit(one, f"{told}: ask `self.training and {source.code(one)}`")


def _ratio(source: Source, forward: Function, call: ast.Call, arg: ast.arg) -> float | None:
    positional = [*forward.node.args.posonlyargs, *forward.node.args.args]
    place = positional.index(arg) - 1 if arg in positional else None
    said = tree.argument(call, place, arg.arg)
    if said is not None:
        return averages.number(source, said)
    default = calls.default_of(forward, arg) if not tree.spread(call) else None
    return averages.number(source, default) if default is not None else None


def _is(source: Source, call: ast.Call, cls: Class) -> bool:
    made = source.values(call.func) if isinstance(call.func, ast.Name | ast.Attribute) else ()
    return bool(made) and all(value.name == cls.qualified and value.kind != "class" for value in made)


def _evaluated(source: Source, call: ast.Call) -> bool:
    """Whether nothing can be learned here: under `no_grad`, in a function that evaluates."""
    around = tree.contexts(source, call)
    off = any(source.name(one.func if isinstance(one, ast.Call) else one) in _OFF for one in around)
    home = tree.function(source, call)
    if off or home is None or _EVALUATES.search(home.name) is None:
        return off
    return any(
        isinstance(one.func, ast.Attribute) and one.func.attr == "eval" and not one.args and one.lineno < call.lineno
        for one in tree.under(source, home, ast.Call)
    )
