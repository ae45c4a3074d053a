"""The rule of drop-last-in-evaluation."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import calls, classes, edits, follow, project, scopes, stated, tree, uses
from torchlore.check.project import Class, Function
from torchlore.check.source import Hit, Source

_EVAL = re.compile(
    r"(^|_)(val|valid|validation|test|testing|eval|dev|query|gallery)_?(data_?)?(loader|dl|dataloader|iter)s?$",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"(x_|ds_)?(val|valid|validation|test|eval|dev)(_?(set|data|dataset|ds|loader|dl|split))?$", re.IGNORECASE
)
_MEASURES = re.compile(
    r"acc|loss|score|metric|criteri|correct|iou|auc|psnr|predict|argmax|\breturn [^\n]*(loader|iter|dl)"
)
_SHOWS = re.compile(r"_?(plot|show|draw|visuali[sz]e)")
_TELLS = re.compile(r"\breturn [^\n]|\byield\b|\bprint\(|log|write|dump|append")
_SIZES = {"MNIST": (60_000, 10_000), "FashionMNIST": (60_000, 10_000), "KMNIST": (60_000, 10_000), "CIFAR10": (50_000, 10_000), "CIFAR100": (50_000, 10_000)}  # fmt: skip
WORDS = ("drop_last", "DataLoader")


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.data.DataLoader"):
        held, given = source.parents[call], tree.keyword(call, "drop_last")
        if given is None or tree.literal(given.value) is not True:
            continue
        name = (
            tree.dotted(held.targets[0]).rpartition(".")[2] if isinstance(held, ast.Assign) else _beside(source, call)
        )
        size = tree.argument(call, 1, "batch_size")
        if size is None or tree.literal(size) == 1 or _goes_into(source, call, size):
            continue  # no batch is short
        if _drawn(source, call) or (isinstance(held, ast.Assign) and _only_tasted(source, held.targets[0])):
            continue
        if isinstance(held, ast.Assign) and (_made_anew(source, held.targets[0]) or _shown(source, held.targets[0])):
            continue
        if _EVAL.search(name):
            fix = edits.replace(source, given.value, "False")
            yield source.hit(
                given,
                f"`{name}` leaves the last, short batch out of what is measured: set drop_last=False",
                fix,
                severity="hint" if _counted_on(source, call) or not _MEASURES.search(source.text.lower()) else None,
            )


def _beside(source: Source, call: ast.Call) -> str:
    """`test_loader` of `return DataLoader(train), DataLoader(test, ...)` and of `{"test": DataLoader(...)}`; "" of others."""
    up, data = source.parents[call], tree.argument(call, 0, "dataset")
    word = ""
    if isinstance(up, ast.Dict) and call in up.values:
        key = up.keys[up.values.index(call)]
        word = str(tree.literal(key)) if key is not None else ""
    elif isinstance(up, ast.Tuple) and isinstance(source.parents[up], ast.Return | ast.Assign) and data is not None:
        word = tree.dotted(data).rpartition(".")[2]
    return f"{found[2]}_loader" if (found := _SPLIT.match(word)) else ""


def _counted_on(source: Source, call: ast.Call) -> bool:
    """Whether shapes are made of the batch size: `x.view(batch_size, -1)` fails on a short batch."""
    size = tree.argument(call, 1, "batch_size")
    name = tree.dotted(size) if size is not None else ""
    shapes = [*source.methods("view", "reshape", "expand", "repeat", "init_hidden"), *source.calls("torch.zeros")]
    parts = (one for shape in shapes for one in tree.under(source, shape, ast.Name, ast.Attribute))
    return bool(name) and (any(tree.dotted(one) == name for one in parts) or _told(source, name))


def _told(source: Source, name: str) -> bool:
    """Whether a network of the project is made for this size: `Net(batch_size, width)`, which shapes by `self.batch_size`."""
    for call in source.all(ast.Call):
        given = [*call.args, *(one.value for one in call.keywords)]
        if any(tree.dotted(one) == name for one in given):
            made = source.project.resolve(source, call.func)
            shaped = isinstance(made, Class) and re.search(
                r"self\.\w*batch_?size\b(?! *=)", made.source.code(made.node)
            )
            if isinstance(made, Class) and shaped and classes.is_module(made):
                return True
    return False


def _goes_into(source: Source, call: ast.Call, size: ast.expr) -> bool:
    """Whether the batches divide a published set without a rest: 1,000 of the 10,000 of `MNIST(root, train=False)`."""
    data = tree.argument(call, 0, "dataset")
    made = follow.followed(source, data) if data is not None else None
    full = source.name(made.func) if isinstance(made, ast.Call) else ""
    sizes = _SIZES.get(full.removeprefix("torchvision.datasets.")) if "torchvision.datasets." in full else None
    trains = tree.literal(tree.argument(made, 1, "train") or ast.Constant(True)) if isinstance(made, ast.Call) else None
    if sizes is None or not isinstance(trains, bool):
        return False
    found = stated.constants(source, size)
    found = [_by_default(source, size)] if tree.UNKNOWN in found else found
    return all(isinstance(one, int) and one > 0 and sizes[0 if trains else 1] % one == 0 for one in found)


def _by_default(source: Source, size: ast.expr) -> object:
    """What `def loaders(test_batch_size=1000)` says where the callers do not tell."""
    home = tree.function(source, size) if isinstance(size, ast.Name) else None
    arg = next((one for one in tree.parameters(home) if one.arg == tree.dotted(size)), None) if home else None
    default = calls.default_of(project.as_function(source, home), arg) if home and arg else None
    return tree.literal(default) if default is not None else tree.UNKNOWN


def _drawn(source: Source, call: ast.Call) -> bool:
    """A sampler that draws at random leaves out more than the last batch."""
    sampler = tree.keyword(call, "sampler")
    made = source.code(follow.followed(source, sampler.value)) if sampler is not None else ""
    return bool(made) and not re.search("Distributed|Sequential|sampler$|None", made)


def _made_anew(source: Source, name: ast.expr) -> bool:
    """Whether a later line makes the loader anew before anybody reads it, or nobody ever does."""
    if not isinstance(name, ast.Name):
        return False
    reads = [one for one in uses.names(source, name.id) if isinstance(one.ctx, ast.Load)]
    hidden = tree.function(source, name) is not None or not source.project.importers(source.module)
    return (bool(reads) or hidden) and not any(
        one.node is name for use in reads for one in scopes.reaching(source, use)
    )


def _shown(source: Source, name: ast.expr) -> bool:
    """Whether all that is done with it is `plot_features(net, loader)`."""
    reads = [one for one in uses.names(source, name.id) if isinstance(one.ctx, ast.Load)] if isinstance(name, ast.Name) else []  # fmt: skip
    mine = [one for one in reads if any(made.node is name for made in scopes.reaching(source, one))]
    ups = [source.parents[one] for one in mine]
    return bool(ups) and all(isinstance(up, ast.Call) and _shows(source, up) for up in ups)


def _shows(source: Source, call: ast.Call) -> bool:
    """A call of `plot_features`, or of a function that plots and tells nobody anything."""
    if _SHOWS.match(tree.dotted(call.func).rpartition(".")[2]):
        return True
    found = source.project.resolve(source, call.func)
    if not isinstance(found, Function):
        return False
    home, node = found.source, found.node
    inner = (tree.dotted(one.func).rpartition(".")[2] for one in tree.under(home, node, ast.Call))
    return any(_SHOWS.match(one) for one in inner) and not _TELLS.search(home.code(node))


def _only_tasted(source: Source, name: ast.expr) -> bool:
    """Whether nothing but a batch at a time is taken from it: every use is `iter(loader)`, a `del` or `loader is None`."""
    home = tree.function(source, name) if isinstance(name, ast.Name) else None
    same = [
        one
        for one in source.all(ast.Name, ast.Attribute)
        if tree.dotted(one) == tree.dotted(name) and (home is None or tree.function(source, one) is home)
    ]
    ups = [source.parents[one] for one in same if not isinstance(getattr(one, "ctx", None), ast.Store)]
    calls = [(up, tree.dotted(up.func).rpartition(".")[2]) for up in ups if isinstance(up, ast.Call)]
    taken: list[ast.AST] = [up for up, called in calls if called in ("iter", "cycle", "next")]
    handed = [up for up, called in calls if called == "prepare"]
    other = (up for up in ups if up not in taken and up not in handed)
    return bool(taken) and all(isinstance(up, ast.Delete | ast.Tuple | ast.Compare) for up in other)
