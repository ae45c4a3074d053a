"""The rule of train-loader-not-shuffled: loaders made in place, by a helper, with options in a dictionary."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from torchlore.check import calls, classes, edits, flow, follow, frameworks, lessons, scopes, tree, uses
from torchlore.check.iteration import unwrapped
from torchlore.check.pattern import regex
from torchlore.check.project import Class

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchlore.check.project import Function
    from torchlore.check.source import Hit, Source

_LOADER = "torch.utils.data.DataLoader"
_NAMES = ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler")
_TRAIN = regex(r"^(tr|trn|train|training)_?(data_?)?(loader|dl|iter|dataloader)s?$", re.IGNORECASE)
_GIVES = regex(r"^(?!.*(val|test|eval|dataset|fold)).*train.*(load|dl$|iter|batch)", re.IGNORECASE)
_ORDERED = regex(r"series|sequences?\b|window|stream|bptt|stateful|replay|cached|ordered|sorted_", re.IGNORECASE)
_EVALUATES = regex(r"(^|_)(eval|evaluate|evaluation|test|valid|validate|show|plot|visualize)(_|$)", re.IGNORECASE)
_CLASSES = regex(r"cross_?entropy|nll_?loss|bce|margin|hinge", re.IGNORECASE)  # classes lie one after the other
_NUMBERS = regex(r"mse|l1_?loss|huber|recon|gaussian", re.IGNORECASE)
_MIXED = regex(r"shuffle\(|permutation|randperm|train_test_split|\.sample\(frac|random_sampl", re.IGNORECASE)
_BY_CLASS = ("torchvision.datasets.ImageFolder", "torchvision.datasets.DatasetFolder")
_LABELS = regex(r"label|target|(^|_)(y|gt|tags?|truth)(_|$)")
_RANDOM = ("torch.randn", "torch.rand", "torch.randint", "torch.normal")


class _Made(NamedTuple):
    """A loader: its options, each with the file it stands in, as far as all of them can be seen."""

    call: ast.Call  # what the user's own line calls: DataLoader, or a helper that makes one
    options: dict[str, tuple[Source, ast.expr]]


WORDS = ("backward", "DataLoader|train|training|*loader*|*dl*|*iter*")


def find(source: Source) -> Iterator[Hit]:
    if not any(source.methods("backward")) or any(source.methods("make_private", "make_private_with_epsilon")):
        return  # Opacus draws its own batches
    for name, call in _training_loaders(source):
        made = _made(source, call)
        if made is None or _is_shuffled(made) or frameworks.owned(source, call) or not _lies_in_order(made):
            continue
        if _only_looked_at(source, call) or _ORDERED.search(source.text) or _numbered(source, call):
            continue
        message = f"`{name}` hands the data out in the order of the dataset, in every epoch: add shuffle=True"
        own = source.name(call.func) == _LOADER and not tree.spread(call)
        fix = [edits.set_keyword(source, call, "shuffle", "True")] if own else []
        numbers = _NUMBERS.search(source.text) and not _CLASSES.search(source.text)
        quiet = numbers or _MIXED.search(source.text) or _mixes_itself(made)
        yield source.hit(call, message, *fix, safe=False, severity="hint" if quiet else None)


def _training_loaders(source: Source) -> Iterator[tuple[str, ast.Call]]:
    """Calls whose result is called a training loader, by its variable or its key; a folder of classes by its loop."""
    for assign in source.all(ast.Assign):
        value = assign.value
        if not isinstance(value, ast.Call | ast.Dict):
            continue
        name = tree.dotted(assign.targets[0])
        if isinstance(value, ast.Call):
            last = name.rpartition(".")[2]
            if _TRAIN.match(last) or (_is_folder(source, value) and _is_trained_on(source, name)):
                yield last, value
        elif isinstance(value, ast.Dict):
            for key, one in zip(value.keys, value.values, strict=True):
                if key is not None and tree.literal(key) in ("train", "training") and isinstance(one, ast.Call):
                    yield f'{name}["{tree.literal(key)}"]', one
    for each in source.all(ast.DictComp):
        if isinstance(each.value, ast.Call) and _for_each_split(source, each.generators[0]):
            held = source.parents[each]
            name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
            yield f'{name}["train"]' if name else 'the loader of "train"', each.value
    yield from _without_name(source)


def _for_each_split(source: Source, turn: ast.comprehension) -> bool:
    """`for split in ("train", "val")`, `for split, data in datasets.items()`: one and the same for all of them."""
    walked = turn.iter
    if isinstance(walked, ast.Call) and follow.method(walked) == "items":
        walked = tree.receiver(walked)
    over = follow.followed(source, walked)
    keys = (
        [tree.literal(one) for one in over.keys if one is not None]
        if isinstance(over, ast.Dict)
        else tree.literal(over)
    )
    return isinstance(keys, tuple | list) and "train" in keys and not turn.ifs


def _is_trained_on(source: Source, name: str) -> bool:
    """Whether a training loop walks through what has this name."""
    loops = (one.node for one in flow.training_loops(source))
    return any(isinstance(one, ast.For) and tree.dotted(unwrapped(source, one.iter)) == name for one in loops)


def _without_name(source: Source) -> Iterator[tuple[str, ast.Call]]:
    """What a function gives back for training, and `train_loader=DataLoader(...)`."""
    for call in source.calls(_LOADER):
        back = source.parents[call]
        if not isinstance(back, ast.Return):
            continue
        home, tests = tree.function(source, back), tree.conditions(source, back)
        split = [_train_split(test) for test, branch in tests if branch]
        if any(split) or (home is not None and _GIVES.search(home.name) and not tests):
            yield "the loader for training", call
    for given in source.all(ast.keyword):
        called = isinstance(given.value, ast.Call) and isinstance(source.parents[given], ast.Call)
        if called and given.arg is not None and _TRAIN.match(given.arg) and isinstance(given.value, ast.Call):
            yield given.arg, given.value


def _train_split(test: ast.expr) -> bool:
    """`split == "train"`."""
    equal = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
    return equal and isinstance(test, ast.Compare) and tree.literal(test.comparators[0]) in ("train", "training")


def _numbered(source: Source, call: ast.Call) -> bool:
    """`for i, x in enumerate(loader): y = labels[i]`: what belongs to a batch lies beside it, in the same order."""
    held = source.parents[call]
    name = tree.dotted(held.targets[0]) if isinstance(held, ast.Assign) else ""
    for loop in source.all(ast.For):
        pair = loop.target.elts if isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2 else []
        counts = isinstance(loop.iter, ast.Call) and source.name(loop.iter.func) == "enumerate" and bool(pair)
        if (
            not counts
            or not isinstance(loop.iter, ast.Call)
            or not any(tree.dotted(one) == name for one in loop.iter.args)
        ):
            continue
        number = tree.dotted(pair[0])
        for use in tree.under(source, loop, ast.Subscript):
            kept = tree.dotted(use.value).lower()
            if isinstance(use.ctx, ast.Load) and tree.dotted(use.slice) == number and _LABELS.search(kept):
                return True
    return False


def _only_looked_at(source: Source, call: ast.Call) -> bool:
    """Whether every loop over this very loader does something else than train: it counts, or takes a mean."""
    held = source.parents[call]
    name = held.targets[0] if isinstance(held, ast.Assign) else None
    over = [(one, unwrapped(source, one.iter)) for one in source.all(ast.For)]
    mine = [one for one, loader in over if isinstance(loader, ast.Name) and isinstance(name, ast.Name)
            and loader.id == name.id and [b.node for b in scopes.reaching(source, loader)] == [name]]  # fmt: skip
    trains = {loop.node for loop in flow.backward_loops(source)}
    read = (
        [one for one in uses.names(source, name.id) if isinstance(one.ctx, ast.Load)]
        if isinstance(name, ast.Name)
        else []
    )
    if isinstance(name, ast.Name) and not any(name is b.node for one in read for b in scopes.reaching(source, one)):
        return True  # and nobody even looks
    if mine and all(_is_timed(source, one) for one in mine):
        return True
    return (bool(mine) and not any(one in trains for one in mine)) or _given_to_evaluate(source, name)


def _is_timed(source: Source, loop: ast.For) -> bool:
    """Fifty turns to see how long one takes: a clock is read around them, no loop is, and a number ends them."""
    stops = [one for one in tree.under(source, loop, ast.Break) if tree.loops(source, one)[0] is loop]
    tests = [test for one in stops for test, _ in tree.conditions(source, one) if isinstance(test, ast.Compare)]
    counted = any(isinstance(tree.literal(one.comparators[0]), int) for one in tests)
    return counted and not tree.loops(source, loop) and lessons.timed(source, loop)


def _given_to_evaluate(source: Source, name: ast.expr | None) -> bool:
    """Whether this very loader, or its iterator, goes to functions that evaluate or show, and nowhere else."""
    found = (
        [one for one in uses.names(source, name.id) if isinstance(one.ctx, ast.Load)]
        if isinstance(name, ast.Name)
        else []
    )
    ups = [source.parents[one] for one in found if [b.node for b in scopes.reaching(source, one)] == [name]]
    for up in ups:
        if not isinstance(up, ast.Call):
            return False
        held = source.parents[up]
        if isinstance(held, ast.Call) and source.name(held.func) == "next" and not tree.loops(source, held):
            continue  # one batch to look at
        again = held.targets[0] if source.name(up.func) == "iter" and isinstance(held, ast.Assign) else None
        if again is not None and not _given_to_evaluate(source, again):
            return False
        if again is None and not _EVALUATES.search(tree.dotted(up.func).rpartition(".")[2]):
            return False
    return bool(ups)


def _is_folder(source: Source, call: ast.Call) -> bool:
    given = tree.argument(call, 0, "dataset") if source.name(call.func) == _LOADER else None
    found = source.values(given) if given is not None else ()
    return bool(found) and all(one.name in _BY_CLASS for one in found)


def _made(source: Source, call: ast.Call) -> _Made | None:
    """The loader that a call makes, in place or as the only result of a function of the project."""
    if source.name(call.func) == _LOADER:
        return _options(source, call, call, None)
    function = flow.called(source, call)
    backs = calls.returned(function) if function is not None and function.node.name != "__init__" else []
    inner = follow.followed(function.source, backs[0]) if function is not None and len(backs) == 1 else None
    if function is None or not isinstance(inner, ast.Call) or function.source.name(inner.func) != _LOADER:
        return None
    return _options(source, call, inner, function)


def _options(source: Source, call: ast.Call, loader: ast.Call, function: Function | None) -> _Made | None:
    home = function.source if function is not None else source
    found: dict[str, tuple[Source, ast.expr]] = {}
    for name, given in zip(_NAMES, loader.args, strict=False):
        found[name] = _resolved(source, call, home, given, function)
    for keyword in loader.keywords:
        where, value = _resolved(source, call, home, keyword.value, function)
        if keyword.arg is not None:
            found[keyword.arg] = where, value
            continue
        if isinstance(value, ast.Name) and _is_changed(where, value):
            return None
        value = follow.followed(where, value)
        if (
            isinstance(value, ast.Call)
            and where.name(value.func) == "dict"
            and not value.args
            and not tree.spread(value)
        ):
            found |= {str(one.arg): (where, one.value) for one in value.keywords}
            continue
        if not isinstance(value, ast.Dict) or None in value.keys:
            return None
        found |= {str(tree.literal(key)): (where, one) for key, one in zip(value.keys, value.values, strict=True)}
    hidden = any(isinstance(arg, ast.Starred) for arg in loader.args) or len(loader.args) > len(_NAMES)
    return None if hidden else _Made(call, found)


def _is_changed(source: Source, name: ast.Name) -> bool:
    """Whether more is put into the dictionary after it was made."""
    ups = [source.parents[one] for one in uses.names(source, name.id)]
    return any(
        (isinstance(up, ast.Attribute) and up.attr in ("update", "setdefault"))
        or (isinstance(up, ast.Subscript) and isinstance(up.ctx, ast.Store))
        or isinstance(up, ast.AugAssign)
        for up in ups
    )


def _resolved(
    source: Source, call: ast.Call, home: Source, node: ast.expr, function: Function | None
) -> tuple[Source, ast.expr]:
    """What a parameter of the helper stands for in this call; the expression itself where it is none."""
    if function is None or not isinstance(node, ast.Name):
        return home, node
    args = function.node.args
    named = [*args.posonlyargs, *args.args]
    arg = next((one for one in [*named, *args.kwonlyargs] if one.arg == node.id), None)
    skip = 1 if function.owner and not isinstance(call.func, ast.Name) else 0
    given = calls.given_argument(function, call, arg, skip) if arg is not None else None
    if given is not None:
        return source, given
    defaults = {one.arg: value for one, value in zip(named[::-1], args.defaults[::-1], strict=False)}
    return home, defaults.get(node.id, node)


def _is_shuffled(made: _Made) -> bool:
    """Whether it is shuffled, given a sampler, or nobody can tell."""
    shuffle = made.options.get("shuffle")
    if shuffle is not None and tree.literal(shuffle[1]) is not False:
        return True
    samplers = [made.options[name][1] for name in ("sampler", "batch_sampler") if name in made.options]
    return any(tree.literal(one) is not None for one in samplers)


def _lies_in_order(made: _Made) -> bool:
    """Whether the dataset is known, can be shuffled, and was not shuffled by a random split or drawn at random."""
    source, given = made.options.get("dataset", (None, None))
    found = source.values(given) if source is not None and given is not None else ()
    if source is None or not found or any(one.kind != "dataset" for one in found):
        return False
    outside = {name for one in found for name in _bases(source, one.name)}
    drawn = any(
        isinstance(one.node, ast.Call) and one.source is not None and _drawn(one.source, one.node) for one in found
    )
    return not drawn and not any("Iterable" in name or "Subset" in name for name in outside)


def _mixes_itself(made: _Made) -> bool:
    """A dataset whose class shuffles its rows when it is made."""
    source, given = made.options.get("dataset", (None, None))
    found = source.values(given) if source is not None and given is not None else ()
    owners = [classes.class_behind(source, one) for one in found] if source is not None else []
    return any(one is not None and _MIXED.search(one.source.code(one.node)) for one in owners)


def _drawn(source: Source, dataset: ast.Call) -> bool:
    """`TensorDataset(torch.randn(...), ...)`: such samples have no order."""
    first = follow.followed(source, dataset.args[0]) if dataset.args else None
    while isinstance(first, ast.Subscript):
        first = follow.followed(source, first.value)
    return isinstance(first, ast.Call) and source.name(first.func) in _RANDOM


def _bases(source: Source, name: str) -> set[str]:
    cls = source.project.find(name, source.path)
    return {name, *source.project.bases(cls)[1]} if isinstance(cls, Class) else {name}
