"""The rule of classes-in-the-order-of-a-listing."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_LISTS = ("os.listdir", "glob.glob", "glob.iglob", "os.scandir")
_LABEL = regex(r"^(label|labels|target|cls|class_?(id|idx|index|label)|y)(_?(id|idx|index))?$", re.IGNORECASE)
WORDS = ("listdir|glob|iglob|scandir|iterdir|set", "listdir|glob|iglob|scandir|iterdir|enumerate")


def find(source: Source) -> Iterator[Hit]:
    if "torch" not in source.text:
        return
    for call in (*source.calls(*_LISTS), *source.methods("iterdir")):
        whole = _whole(source, call)
        up = source.parents[whole]
        if isinstance(up, ast.Call) and _counts(source, up):
            yield source.hit(call, _told(source, call))
            continue
        name = tree.dotted(up.targets[0]) if isinstance(up, ast.Assign) and up.value is whole else ""
        if name and isinstance(up, ast.Assign) and _numbers(source, up, name):
            yield source.hit(whole, _told(source, whole))
    yield from _of_a_set(source)


def _of_a_set(source: Source) -> Iterator[Hit]:
    """`{name: i for i, name in enumerate(set(names))}` of texts, which each run of Python hashes anew, beside saved weights."""
    kept = any(word in source.text for word in ("torch.load", "torch.save", "load_state_dict"))
    written = any(
        word in source.text for word in ("json.dump", "pickle.dump", "PYTHONHASHSEED", "joblib.dump", "yaml.dump")
    )
    for call in source.calls("set") if kept and not written else ():
        whole = _whole(source, call)
        up = source.parents[whole]
        held = source.parents[source.parents[up]] if isinstance(up, ast.Call) and _counts(source, up) else None
        stored = source.parents[held] if isinstance(held, ast.DictComp) else None
        name = tree.dotted(stored.targets[0]) if isinstance(stored, ast.Assign) else ""
        last = name.rpartition(".")[2]
        if not call.args or not re.search("class|label|cat|tag", last.lower()):
            continue
        if not any(last in source.code(one) for one in source.calls("torch.save")):
            code = source.code(whole)
            told = (
                "a set of texts has another order in each run, so a saved model's classes get other numbers in the next"
            )
            yield source.hit(call, f"{told}: write `sorted({code})`")


def _told(source: Source, listing: ast.expr) -> str:
    return f"a listing has no order, so the classes get other numbers on another machine: write `sorted({source.code(listing)})`"


def _whole(source: Source, call: ast.expr) -> ast.expr:
    """The list that is made of a listing: `[d for d in os.listdir(root) if ...]`, `list(...)`."""
    up = source.parents[call]
    if isinstance(up, ast.comprehension) and isinstance(held := source.parents[up], ast.ListComp):
        return held
    if isinstance(up, ast.Call) and call in up.args and source.name(up.func) == "list":
        return up
    return call


def _counts(source: Source, call: ast.Call) -> bool:
    """`for label, folder in enumerate(...)`, `{name: i for i, name in enumerate(...)}`."""
    if source.name(call.func) != "enumerate":
        return False
    up = source.parents[call]
    target = up.target if isinstance(up, ast.For | ast.comprehension) and up.iter is call else None
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
        return False
    number, name = (tree.dotted(one) for one in target.elts)
    if isinstance(up, ast.For):
        return _LABEL.match(number) is not None
    held = source.parents[up]
    return isinstance(held, ast.DictComp) and tree.dotted(held.key) == name and tree.dotted(held.value) == number


def _numbers(source: Source, held: ast.Assign, name: str) -> bool:
    """Whether places in the list become numbers of classes, and nothing sorts it."""
    home = tree.class_of(source, held) if name.startswith("self.") else tree.function(source, held)
    last = name.rpartition(".")[2]
    nodes = uses.attributes(source, last) if "." in name else uses.names(source, last)
    mine = [one for one in nodes if one is not held.targets[0] and tree.dotted(one) == name]
    mine = [one for one in mine if home is None or tree.inside(source, one, home)]
    ups = [source.parents[one] for one in mine]
    if any(isinstance(one, ast.Attribute) and one.attr == "sort" for one in ups):
        return False
    if any(isinstance(one.ctx, ast.Store) for one in mine if isinstance(one, ast.Name | ast.Attribute)):
        return False
    if any(
        isinstance(one, ast.Call) and source.name(one.func) in ("sorted", "random.shuffle", "numpy.sort") for one in ups
    ):
        return False
    return any(
        (isinstance(one, ast.Attribute) and one.attr == "index")
        or (isinstance(one, ast.Call) and _counts(source, one))
        or (isinstance(one, ast.Subscript) and _by_place(source, one))
        for one in ups
    )


def _by_place(source: Source, taken: ast.Subscript) -> bool:
    """`{names[i]: i for i in range(len(names))}`."""
    held = next((one for one in tree.ancestors(source, taken) if isinstance(one, ast.DictComp | ast.stmt)), None)
    place = tree.dotted(taken.slice)
    return (
        isinstance(held, ast.DictComp)
        and bool(place)
        and tree.inside(source, taken, held.key)
        and tree.dotted(held.value) == place
    )
