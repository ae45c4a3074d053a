"""The rule of layer-name-never-matches."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import api, classes, follow, scopes, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.project import Class, imported_files
from torchlore.check.source import Hit, Source

_SMALL = regex(r"^(de)?conv(transpose)?([123]d)?$|^linear$|^(batch|layer|group|instance)?norm([123]d)?$|^bn$|^fc$|^dense$|^"
                    r"(lstm|gru|rnn)(cell)?$|^embedding$|^(multihead)?attention$")  # fmt: skip
_KERAS = regex(r"^(Conv[123]D(Transpose)?$|Dense$|BatchNormalization|LayerNormalization|Batchnorm|Layernorm|ConV)")
WORDS = ("__name__|named_parameters",)


def find(source: Source) -> Iterator[Hit]:
    yield from _paths(source)
    if not uses.attributes(source, "__name__"):
        return
    for node in source.all(ast.Compare):
        if len(node.ops) != 1:
            continue
        left, right = node.left, node.comparators[0]
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            yield from _told(source, node, right, left, whole=False)
        elif isinstance(node.ops[0], ast.Eq | ast.NotEq):
            yield from _told(source, node, left, right, whole=True)
    for call in source.methods("find", "startswith", "endswith", "count"):
        if len(call.args) == 1:
            yield from _told(source, call, tree.receiver(call), call.args[0], whole=False)


def _paths(source: Source) -> Iterator[Hit]:
    """`if name == "backbone":` in a loop over named_parameters(), whose names go on: `backbone.0.weight`."""
    names = {name for call in source.methods("named_parameters") for name in _named(source.parents[call])}
    for node in source.all(ast.Compare) if names else ():
        if not isinstance(node.left, ast.Name) or node.left.id not in names or len(node.ops) != 1:
            continue
        found = scopes.reaching(source, node.left)
        walked = len(found) == 1 and found[0].path == (0,) and found[0].how in ("for", "comprehension")
        over = found[0].value if walked else None
        if not isinstance(over, ast.Call) or follow.method(over) != "named_parameters":
            continue
        right = tree.literal(node.comparators[0])
        words = (
            [right]
            if isinstance(node.ops[0], ast.Eq | ast.NotEq)
            else right
            if isinstance(node.ops[0], ast.In | ast.NotIn)
            else []
        )
        owners = [classes.class_behind(source, one) for one in source.values(tree.receiver(over))]
        if not isinstance(words, list | tuple) or not words or not owners or None in owners:
            continue
        if all(
            isinstance(word, str) and all(_is_layer(one, word) for one in owners if one is not None) for word in words
        ):
            name = source.code(node.left)
            told = f"`{name}` is a full path such as `{words[0]}.weight`, so it is never `{words[0]}` alone"
            yield source.hit(node, f'{told}: ask `{name}.startswith("{words[0]}.")`')


def _named(loop: ast.AST) -> Iterator[str]:
    """`name` of `for name, p in net.named_parameters()`."""
    target = loop.target if isinstance(loop, ast.For | ast.AsyncFor | ast.comprehension) else None
    first = target.elts[0] if isinstance(target, ast.Tuple | ast.List) and target.elts else None
    if isinstance(first, ast.Name):
        yield first.id


def _is_layer(cls: Class, word: str) -> bool:
    """Whether an attribute of a module is a module itself."""
    made = [one for found in [classes.own_attributes(cls).get(word, [])] for one in found]
    kinds = [value.kind for one in made if one.value is not None for value in cls.source.values(one.value)]
    return bool(kinds) and all(api.is_kind(kind, "module") for kind in kinds)


def _told(source: Source, at: ast.expr, name: ast.expr, word: ast.expr, *, whole: bool) -> Iterator[Hit]:
    text = tree.literal(word)
    lowered = _lowered(source, name) if isinstance(text, str) else None
    if lowered is None or any(text in cls.name for cls in source.all(ast.ClassDef)):
        return
    if lowered:
        never = text != text.lower()
    else:
        never = bool(_SMALL.match(text) or _KERAS.match(text)) or (whole and text in ("Conv", "BatchNorm", "Norm"))
    if never and not _imported(source, text):
        told = (
            "small letters are left of the class name here" if lowered else "a class name such as `Conv2d` has capitals"
        )
        yield source.hit(
            at, f"{told}, so {source.code(word)} is in none of them: ask `isinstance(m, nn.Conv2d)` and the like"
        )


def _lowered(source: Source, node: ast.expr, hops: int = 3) -> bool | None:
    """Whether this is `m.__class__.__name__` in small letters; None where it is no class name."""
    if isinstance(node, ast.Attribute) and node.attr == "__name__":
        kind = node.value
        of_class = (isinstance(kind, ast.Attribute) and kind.attr == "__class__") or (
            isinstance(kind, ast.Call) and source.name(kind.func) == "type"
        )
        return False if of_class else None
    if isinstance(node, ast.Call) and follow.method(node) == "lower":
        return True if _lowered(source, tree.receiver(node), hops) is not None else None
    if isinstance(node, ast.Call) and source.name(node.func) == "str" and len(node.args) == 1:
        return None
    bound = follow.binding(source, node) if isinstance(node, ast.Name) and hops else None
    return _lowered(source, bound, hops - 1) if bound is not None else None


def _imported(source: Source, text: str) -> bool:
    """Whether something that the file imports, or a class of a file it imports, is written so."""
    told = re.compile(rf"^class \w*{re.escape(text)}", re.MULTILINE)
    texts = (source.project.text(path) for path in imported_files(source))
    return any(text in name for name in source.names.imported) or any(told.search(one) for one in texts if one)
