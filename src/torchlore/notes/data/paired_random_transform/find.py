"""The rule of paired-random-transform."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from torchlore.check import flow, follow, identity, scopes, tree
from torchlore.check.pattern import regex
from torchlore.check.project import Function
from torchlore.check.source import Hit, Source

_MASK = regex(
    r"(^|_)(masks?|seg|segm|segmentation|gt|ground_?truth|annotation|depth|flow|label|lbl|target|weightings?|weight_?map|heat_?map|alpha|trimap)(_|$)"
)
_DRAWS = regex(
    r"^torchvision\.transforms\.(v2\.)?(Random(?!Apply|Order|Choice)\w*(Flip|Crop|Rotation|Affine|Perspective|ResizedCrop|IoUCrop)|ElasticTransform)$"
)

_RANDOM = regex(
    r"^(random\.(random|randint|uniform|choice|randrange)|numpy\.random\.\w+|torch\.(rand|randint|randn|bernoulli))$"
)
_PIXELS = regex(
    r"(^|_)(masks?|segmentation|seg_?maps?|label_?maps?)$"
)  # a map whose every pixel belongs to one of the picture
_KEEPS = {"convert", "resize", "long", "float", "squeeze", "unsqueeze", "clone", "astype", "to", "copy"}
_HOLES = regex(r"inpaint|hole|irregular|cutout|visible|attention")  # masks that belong to no place
_NAMED = {ast.Name, ast.Attribute}
_TURNS = {"flip", "fliplr", "flipud", "rot90", "hflip", "vflip", "rotate", "crop", "roll", "affine"}
WORDS = (
    "*transforms*|*rand*",
    "*mask*|*seg*|*gt*|*ground*|*annotation*|*depth*|*flow*|*label*|*lbl*|*target*|*weight*|*heat*|*alpha*|*trimap*",
)


def find(source: Source) -> Iterator[Hit]:
    if "transforms" not in source.text and "rand" not in source.text:
        return
    yield from _both_in_turn(source)
    yield from _picture_alone(source)
    named = [(call, name) for call in source.all(ast.Call) if _is_plain(call) and (name := _name(call.args[0]))]
    masks = [call for call, name in named if _is_mask(name)]
    images: dict[ast.AST | None, list[tuple[ast.Call, str]]] = {}
    for call, name in named if masks else ():
        if not _is_mask(name):
            images.setdefault(tree.function(source, call), []).append((call, name))
    for mask in masks:
        home = tree.function(source, mask)
        if home not in images or not _is_random(source, mask.func):
            continue
        owner = identity.identity(source, mask.func)
        for image, other in images[home]:
            same = identity.identity(source, image.func) == owner is not None or (
                source.code(image.func) == source.code(mask.func) and _own(source, mask.func) is not None
            )
            if same and not _seeded(source, mask):
                yield source.hit(
                    mask,
                    f"`{source.code(mask.func)}` draws anew for `{_name(mask.args[0])}` and again for `{other}`, so they no "
                    "longer fit: transform both in one call",
                )
                break


def _is_plain(call: ast.Call) -> bool:
    """`f(x)` and `a.f(x)`."""
    return len(call.args) == 1 and call.func.__class__ in _NAMED


@lru_cache(maxsize=4096)
def _is_mask(name: str) -> bool:
    """Whether a name says that this is a mask or another map that belongs to a picture."""
    return _MASK.search(name) is not None


def _both_in_turn(source: Source) -> Iterator[Hit]:
    """`image, mask = (self.aug(x) for x in (image, mask))`, `{key: aug(x) for key, x in sample.items()}`."""
    for turns in source.all(ast.ListComp, ast.GeneratorExp, ast.DictComp):
        call, turn = turns.value if isinstance(turns, ast.DictComp) else turns.elt, turns.generators[0]  # type: ignore[attr-defined]  # all have them
        each = (
            turn.target.elts[-1]
            if isinstance(turns, ast.DictComp) and isinstance(turn.target, ast.Tuple)
            else turn.target
        )
        if not isinstance(call, ast.Call) or not _is_plain(call) or tree.dotted(each) != _held(call.args[0]):
            continue
        names = _turned(source, turns, turn)
        masks = [one for one in names if _is_mask(one)]
        images = [one for one in names if one and not _is_mask(one)]
        if masks and images and _is_random(source, call.func) and not _seeded(source, call):
            told = f"`{source.code(call.func)}` draws anew for `{masks[0]}` and again for `{images[0]}`, so they no longer fit"
            yield source.hit(call, f"{told}: transform both in one call")


def _turned(source: Source, turns: ast.AST, turn: ast.comprehension) -> list[str]:
    """What is gone through, by name: `(image, mask)`, or the keys of `sample.items()`."""
    if not isinstance(turns, ast.DictComp):
        parts = follow.followed(source, turn.iter)
        return [_name(one) for one in parts.elts] if isinstance(parts, ast.List | ast.Tuple) else []
    box = follow.followed(source, tree.receiver(turn.iter)) if follow.method(turn.iter) == "items" else None  # type: ignore[arg-type]  # a call
    given = [source.code(one) for one in box.values] if isinstance(box, ast.Dict) else []
    keys = [tree.literal(one) for one in box.keys if one is not None] if isinstance(box, ast.Dict) else []
    views = len(set(given)) < len(given)  # of one picture
    return [one.lower() for one in keys if isinstance(one, str)] if not turn.ifs and not views else []


def _picture_alone(source: Source) -> Iterator[Hit]:
    """`image = self.flips(image)` in a `__getitem__` that gives back the image and its mask as it was."""
    if "__getitem__" not in source.text or _HOLES.search(source.text):
        return
    for home in source.all(ast.FunctionDef):
        given = _given_back(source, home) if home.name == "__getitem__" else {}
        masks = {name for name, part in given.items() if _PIXELS.search(name.lower()) and _is_stored(source, part)}
        calls = (
            [one for one in tree.under(source, home, ast.Call) if tree.function(source, one) is home] if masks else []
        )
        if any(one.rpartition(".")[2] in _TURNS or _RANDOM.match(one) for call in calls if (one := source.name(call.func) or follow.method(call))):  # fmt: skip
            continue
        for call in calls:
            name = _name(call.args[0]) if _is_plain(call) and _returned(source, call, given) else ""
            moved = name and not _is_mask(name) and _is_torch(source, call.func) and _is_random(source, call.func)
            if moved and not _seeded(source, call) and not any(_moves(source, one, masks) for one in calls):
                code = source.code(call.func)
                told = f"`{code}` moves the pixels of `{name}` at random, and those of `{min(masks)}` stay where they are: transform both in one call"
                yield source.hit(call, told, severity="warning")


def _given_back(source: Source, home: ast.FunctionDef) -> dict[str, ast.expr]:
    """The names in `return image, mask` and `return {"image": image, "mask": mask}`."""
    backs = (one.value for one in tree.under(source, home, ast.Return) if tree.function(source, one) is home)
    parts = (part for one in backs for part in (one.elts if isinstance(one, ast.Tuple) else one.values if isinstance(one, ast.Dict) else ()))  # fmt: skip
    return {tree.dotted(part) or source.code(part): part for part in parts}


def _returned(source: Source, call: ast.Call, given: dict[str, ast.expr]) -> bool:
    """Whether the picture that this call gives is what the dataset gives back."""
    held = tree.target(source, call)
    return call in given.values() or (held is not None and tree.dotted(held) in given)


def _is_stored(source: Source, mask: ast.expr, hops: int = 6) -> bool:
    """Whether a mask was read with its picture: `self.masks[i]`, `Image.open(path)`; none that was drawn or computed."""
    bound = scopes.reaching(source, mask) if isinstance(mask, ast.Name) else []
    if len(bound) == 1 and bound[0].value is not None and hops:
        part = scopes.part(bound[0])
        return part is not None and _is_stored(source, part, hops - 1)
    if isinstance(mask, ast.Subscript):
        return tree.dotted(mask.value).startswith("self.")
    if not isinstance(mask, ast.Call):
        return False
    if follow.word(source, mask) in ("open", "imread", "read_image", "load"):
        return True
    inner = tree.receiver(mask) if not source.name(mask.func) and follow.method(mask) in _KEEPS else None
    inner = mask.args[0] if inner is None and mask.args else inner
    return inner is not None and hops > 0 and _is_stored(source, inner, hops - 1)


def _is_torch(source: Source, func: ast.expr) -> bool:
    """Whether it is a transform that is written down here."""
    found = [one for one in source.values(func) if one.kind != "none"]
    return bool(found) and all(one.kind == "transform" for one in found)


def _moves(source: Source, call: ast.Call, masks: set[str]) -> bool:
    """Whether a call may move the pixels of a mask: one whose transforms are not known, or draw."""
    parts = (part for one in (*call.args, *(word.value for word in call.keywords)) for part in ast.walk(one))
    if not any(isinstance(part, ast.Name) and part.id in masks for part in parts):
        return False
    known = source.name(call.func).startswith(("torch.", "numpy.", "PIL."))
    return not known and (not _is_torch(source, call.func) or _is_random(source, call.func))


def _held(node: ast.expr) -> str:
    """`t` of `t[index]`."""
    return tree.dotted(node.value if isinstance(node, ast.Subscript) else node)


def _name(node: ast.expr) -> str:
    held = node.value if isinstance(node, ast.Subscript) else node
    return tree.dotted(held).rpartition(".")[2].lower()


def _is_random(source: Source, func: ast.expr) -> bool:
    """Whether every transform it may be moves pixels at random."""
    if isinstance(func, ast.Name | ast.Attribute) and (inner := _own(source, func)) is not None:
        return _drawn_by_hand(inner.source, inner.node)
    found = [one for one in source.values(func) if one.kind != "none"]  # `transform if train else None`
    calls = [
        one.node for one in found if one.kind == "transform" and one.source is source and isinstance(one.node, ast.Call)
    ]
    return bool(calls) and len(calls) == len(found) and all(_draws(source, one) for one in calls)


def _draws(source: Source, call: ast.Call) -> bool:
    if _DRAWS.match(source.name(call.func)):
        return True
    parts = follow.followed(source, call.args[0]) if call.args else None
    if isinstance(parts, ast.IfExp):  # `[flip, turn] if train else []`
        parts = next((one for one in (parts.body, parts.orelse) if getattr(one, "elts", [])), None)
    inner = parts.elts if isinstance(parts, ast.List | ast.Tuple) else []
    return any(isinstance(one, ast.Call) and _draws(source, one) for one in inner)


def _seeded(source: Source, node: ast.AST) -> bool:
    """Whether the same seed is set before each, an old way to share the draw."""
    home = tree.function(source, node)
    return any(
        tree.function(source, one) is home for one in source.methods("manual_seed", "seed", "set_rng_state", "setstate")
    )


def _own(source: Source, func: ast.expr) -> Function | None:
    """The project's own function that this calls."""
    call = source.parents[func]
    inner = flow.called(source, call) if isinstance(call, ast.Call) and call.func is func else None
    return inner if inner is not None and inner.node.name != "__init__" else None


def _drawn_by_hand(source: Source, home: ast.AST) -> bool:
    """Whether a function draws a number and flips, turns or cuts what it is given by it."""
    called = [source.name(one.func) or follow.method(one) for one in tree.under(source, home, ast.Call)]
    draws = any(_RANDOM.match(one) for one in called)
    turns = any(one.rpartition(".")[2] in _TURNS for one in called)
    return draws and turns and not any("seed" in one for one in called)
