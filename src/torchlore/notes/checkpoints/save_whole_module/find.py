"""The rule of save-whole-module."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import edits, follow, saved, tree, values
from torchlore.check.source import Hit, Source

_NETS = re.compile(r"(^|_)(model|net|network|module|agent|policy)$", re.IGNORECASE)
WORDS = ("save",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.save"):
        for key, given in saved.contents(source, call).items if not follow.in_test(source, call) else ():
            own = call.args[0] if call.args else given
            elsewhere = tree.function(source, given) is not tree.function(source, call)  # what a caller hands over
            part = own if elsewhere and values.sure(source, own, "module") else given
            if not values.sure(source, part, "module") or values.sure(source, part, "loss"):
                continue
            if any(one.name.startswith(("torch.jit.", "torch.fx.")) for one in source.values(part)):
                continue
            code = source.code(part)
            where = f' under "{key}"' if key else ""
            fix = edits.method(source, part, "state_dict()") if isinstance(part, ast.Name | ast.Attribute) else ()
            yield source.hit(
                call,
                f"`{code}` is pickled whole{where}: it needs its class to load, and torch.load refuses it; save "
                f"`{code}.state_dict()`",
                *fix,
                safe=False,
                severity="hint" if _knows(source, code) else None,
            )


def _knows(source: Source, code: str) -> bool:
    """The author saves both, or reads the file back as what it is."""
    both = (tree.receiver(one) for one in source.methods("state_dict") if isinstance(source.parents[one], ast.Call))
    loads = (tree.literal(tree.argument(one, None, "weights_only")) for one in source.calls("torch.load"))
    filled = any(source.code(tree.receiver(one)) == code for one in source.methods("load_state_dict"))
    converts = filled and not any(source.methods("backward"))  # a script that makes a whole module of weights
    known = any(source.code(one) == code for one in both) or any(one is False for one in loads) or converts
    return known or any(_loads_whole(source, path) for path in source.project.importers("torch"))


def _loads_whole(source: Source, path: str) -> bool:
    """Another file of the project loads a network: `torch.load(path, weights_only=False).to(device)`, or `model = ...`."""
    text = source.project.text(path) or ""
    other = source.project.source(path) if "weights_only" in text and path != source.path else None
    for call in other.calls("torch.load") if other is not None else ():
        up = other.parents[call] if other is not None else call
        moved = isinstance(up, ast.Attribute) and up.attr in ("to", "cuda", "cpu", "eval", "float", "double", "half")
        held = tree.dotted(up.targets[0]).rpartition(".")[2] if isinstance(up, ast.Assign) else ""
        if tree.literal(tree.argument(call, None, "weights_only")) is False and (moved or _NETS.search(held)):
            return True
    return False
