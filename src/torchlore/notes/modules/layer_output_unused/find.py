"""The rule of layer-output-unused."""

import ast
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from torchlore.check import classes, follow, tree
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode
from torchlore.check.values import Value

WORDS = ("forward", "nn|torch")
_FUNCTION = re.compile(
    r"torch\.nn\.(functional\.(dropout|relu|\w+lu|linear|layer_norm|batch_norm|normalize|softmax)|utils\.rnn\.pack_padded_sequence)$"
)
_METHODS = {"masked_fill", "softmax", "log_softmax"}
_ACTIVATION = re.compile(r"torch\.nn\.(\w*ReLU6?|\w+LU|Mish|Hard\w+|Dropout\w*)$")


def find(source: Source) -> Iterator[Hit]:
    for cls in classes.all_classes(source):
        forward = classes.methods(cls).get("forward") if classes.is_module(cls) else None
        if forward is None or not _returns(source, forward) or follow.in_test(source, forward.body[0]):
            continue
        for statement, names, call in _layers_called(source, forward):
            if all(follow.unread(source, name) for name in names):
                if "_hook(" in source.code(cls.node):
                    break  # what a layer gave may be read where a hook put it
                lost = " and ".join(f"`{name.id}`" for name in names)
                told = f"{lost} {'is' if len(names) == 1 else 'are'} never read, so the network runs as if `{source.code(call.func)}` were not there"
                yield source.hit(statement, f"{told}: read it below, or take the layer out")


def _returns(source: Source, home: ast.AST) -> bool:
    """Whether a method gives something back; an exercise and an outline do not."""
    backs = (one.value for one in tree.under(source, home, ast.Return))
    return any(one is not None and tree.literal(one) is not None for one in backs)


def _layers_called(source: Source, home: FunctionNode) -> Iterator[tuple[ast.Assign, list[ast.Name], ast.Call]]:
    """Each `name = self.layer(...)` of a method whose layer changes nothing in place."""
    said: dict[str, list[ast.Name]] = defaultdict(list)
    for name in tree.under(source, home, ast.Name):
        said[name.id].append(name)
    for one in tree.under(source, home, ast.Assign):
        target, call = one.targets[0], one.value
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [part for part in parts if isinstance(part, ast.Name) and not part.id.startswith("_")]
        if not isinstance(call, ast.Call) or len(one.targets) > 1 or len(names) < len(parts):
            continue
        lost = all(_may_be_lost(source, one, said[name.id]) for name in names)
        if lost and tree.function(source, one) is home and _computes(source, call):
            yield one, names, call


def _may_be_lost(source: Source, one: ast.Assign, said: list[ast.Name]) -> bool:
    """Whether the next line that says the name does not read it; asked first, as nearly all are read."""
    place = bisect_right(said, one.end_lineno or one.lineno, key=lambda name: name.lineno)
    if place == len(said):
        return True
    line = tree.statement(source, said[place])
    names = tree.under(source, line, ast.Name)
    reads = any(name.id == said[place].id and isinstance(name.ctx, ast.Load) for name in names)
    return not reads and not isinstance(line, ast.AugAssign)


def _computes(source: Source, call: ast.Call) -> bool:
    """Whether a call is one of a layer, or of what a layer does, and nothing else knows what it did."""
    seen = not call.args or not isinstance(call.args[0], ast.Call)  # in place of something that has a name
    if _FUNCTION.match(source.name(call.func)) or follow.method(call) in _METHODS:
        return not (seen and "inplace" in source.code(call))
    layer = tree.dotted(call.func)
    asked = layer.startswith("self.") and f"{layer}." not in source.text  # `self.quantiser.loss`, read after its call
    made = source.values(call.func) if asked else ()
    return bool(made) and all(_is_layer(one, seen) for one in made)


def _is_layer(made: Value, seen: bool) -> bool:
    if made.kind not in ("module", "sequential") or not isinstance(made.node, ast.Call) or made.source is None:
        return False
    activates = bool(made.node.args) and _ACTIVATION.match(made.name) is not None
    return not seen or (not activates and "inplace" not in made.source.code(made.node))
