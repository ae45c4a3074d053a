"""The rule of random-aug-in-eval-transform."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree, uses
from torchlore.check.pattern import regex
from torchlore.check.source import Hit, Source

_EVAL = regex(r"(^|_)(val|valid|validation|test|testing|eval|evaluation|dev)(_|$)")
_TRAIN = regex(r"(^|_)(train|training|trn|tta|aug|noise|noisy|shift|corrupt)")  # or what is tested against
_TTA = regex(r"\btta\s*=[^=]|\bn_tta|\bTTA\w*\(|test[-_ ]time[-_ ]augment")
_TTA_WORDS = ("tta", "TTA", "augment")  # one of them is in what it matches
_NAMED = regex(r"(^|[-_/\\])tta([-_.]|$)", re.IGNORECASE)
_SAID = regex(r"\brandom(ly)?(?![-\w])")
_RANDOM = regex(
    r"^torchvision\.transforms\.(v2\.)?(Random\w+|ColorJitter|AutoAugment|TrivialAugmentWide|RandAugment|AugMix|ElasticTransform)$"
)
_LOADER = "torch.utils.data.DataLoader"
_FLAG = regex(r"^(is_|for_)?train(ing)?$")
WORDS = ("torchvision", "*random*|ColorJitter|AutoAugment|TrivialAugmentWide|RandAugment|AugMix|ElasticTransform")


def find(source: Source) -> Iterator[Hit]:
    yield from (*_training_transform(source), *_same_for_both(source))
    told: set[ast.AST] = set()
    for draw, split in _by_split(source):
        told.add(draw)
        kind = source.name(draw.func).rpartition(".")[2]
        yield source.hit(
            draw, f"{kind} draws anew at each evaluation, where {split}: keep it for the training transform"
        )
    for name, value in _named(source):
        lower = name.rpartition(".")[2].lower()
        if not _EVAL.search(lower) or _TRAIN.search(lower):
            continue
        draws = [one for one in _draws(source, value) if one not in told]
        for draw in draws if draws and not _meant(source, value) else ():
            kind = source.name(draw.func).rpartition(".")[2]
            yield source.hit(
                draw, f"{kind} draws anew at each evaluation, in `{name}`: keep it for the training transform"
            )


def _by_split(source: Source) -> Iterator[tuple[ast.Call, str]]:
    """`if split == "val": steps += [RandomCrop(size)]`, and what comes where it is not the training split."""
    if "Compose" not in source.text:
        return
    for call, full in uses.calls_under(source, "torchvision.transforms."):
        for test, branch in tree.conditions(source, call) if _RANDOM.match(full) else ():
            if _otherwise(source, call, test, branch=branch) and not _meant(source, source.tree.body[0]):
                yield call, f"`{source.code(test)}` is {branch}"
                break
            word = _asked(test)
            evaluates = branch and _EVAL.search(word) is not None
            if word and not _TRAIN.search(word) and evaluates and not _meant(source, source.tree.body[0]):
                yield call, f"`{source.code(test)}`"
                break


def _otherwise(source: Source, call: ast.Call, test: ast.expr, *, branch: bool) -> bool:
    """Behind the `else` of `if train:`, or of `if split == "train":`, whose own branch draws as well."""
    turned = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    flag = test.operand if isinstance(test, ast.UnaryOp) and turned else test
    name = tree.dotted(flag).rpartition(".")[2].lower() or ("train" if _asked(flag) == "train" else "")
    choice = next((up for up in tree.ancestors(source, call) if isinstance(up, ast.If) and up.test is test), None)
    if choice is None or branch is not turned or not _FLAG.match(name):
        return False
    trains = choice.orelse if turned else choice.body
    calls = (one for part in trains for one in tree.under(source, part, ast.Call))
    return any(_RANDOM.match(source.name(one.func)) for one in calls)


def _asked(test: ast.expr) -> str:
    """`val` of `split == "val"`."""
    equal = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
    word = tree.literal(test.comparators[0]) if equal and isinstance(test, ast.Compare) else None
    return word.lower() if isinstance(word, str) else ""


def _named(source: Source) -> Iterator[tuple[str, ast.expr]]:
    """Transforms with a name: assigned to it, under a key of a dict, or given to a dataset made for evaluation."""
    for held in source.all(ast.Assign):
        name = tree.dotted(held.targets[0])
        if re.search("transform|tfm|trans|aug|preproc|tf$", name.lower()):
            yield name, held.value
    for table in source.all(ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
            word = tree.literal(key) if key is not None else None
            if isinstance(word, str) and isinstance(value, ast.Call):
                yield word, value
    for call in source.all(ast.Call):
        given = tree.argument(call, None, "transform")
        if (
            given is not None
            and tree.literal(tree.argument(call, None, "train")) is False
            and isinstance(given, ast.Call)
        ):
            yield "test_set", given


def _meant(source: Source, value: ast.AST) -> bool:
    """The author says so above it, or the file or one that imports it averages over augmented copies."""
    if _SAID.search(follow.comment(source, value)) or _NAMED.search(source.path):
        return True
    project = source.project
    users = (project.text(path) or "" for path in project.importers(source.module))
    return any(_TTA.search(text) for text in (source.text, *users) if any(word in text for word in _TTA_WORDS))


def _draws(source: Source, node: ast.expr) -> Iterator[ast.Call]:
    if not isinstance(node, ast.Call):
        return
    full = source.name(node.func)
    never = tree.literal(tree.argument(node, None, "p")) == 0
    if _RANDOM.match(full) and not full.endswith(("RandomApply", "RandomChoice", "RandomOrder")) and not never:
        yield node
    parts = follow.followed(source, node.args[0]) if node.args and full.startswith("torchvision.transforms.") else None
    for one in parts.elts if isinstance(parts, ast.List | ast.Tuple) else ():
        yield from _draws(source, one)


def _training_transform(source: Source) -> Iterator[Hit]:
    """`val_set = Pictures(root, train_transform)`, where the transform draws and one for evaluation stands unused beside it."""
    for held in source.all(ast.Assign):
        name, call = tree.dotted(held.targets[0]).rpartition(".")[2].lower(), held.value
        if not isinstance(call, ast.Call) or not _EVAL.search(name) or _TRAIN.search(name) or "loader" in name:
            continue
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            word = given.id.lower() if isinstance(given, ast.Name) else ""
            value = follow.followed(source, given) if _TRAIN.search(word) and re.search("transf|aug|tf", word) else None
            if value is not None and any(_draws(source, value)) and _unused(source, held):
                told = f"`{name}` is made with `{source.code(given)}`, which draws anew at each evaluation: give it `{_unused(source, held)}`"
                yield source.hit(call, told)


def _same_for_both(source: Source) -> Iterator[Hit]:
    """`ImageFolder("data/val", transform=tf)`, where `tf` draws and the training set has it too."""
    for call, full in uses.calls_under(source, "torchvision.datasets."):
        given = tree.argument(call, 1 if full.endswith(("ImageFolder", "DatasetFolder")) else None, "transform")
        if not isinstance(given, ast.Name | ast.Attribute) or not _for_evaluation(source, call):
            continue
        if _writes_pictures(source):
            continue
        word = tree.dotted(given).rpartition(".")[2].lower()
        value = follow.followed(source, given)
        draw = next(_draws(source, value), None)
        if draw is not None and not _EVAL.search(word) and not _TRAIN.search(word) and not _meant(source, value):
            kind = source.name(draw.func).rpartition(".")[2]
            told = f"`{source.code(given)}` has {kind} in it, which draws anew at each evaluation: give this set a transform without it"
            yield source.hit(call, told)


def _writes_pictures(source: Source) -> bool:
    """A script that draws pictures once and saves them, and hands them to no loader and no net."""
    saves = any(source.methods("save", "imsave", "imwrite", "tofile")) or "save_image" in source.text
    return saves and not any(source.methods("eval", "backward", "train")) and not any(source.calls(_LOADER))


def _for_evaluation(source: Source, call: ast.Call) -> bool:
    """Whether a dataset says that it is for evaluation: by `train=False`, its split, its folder or its name."""
    held = source.parents[call]
    name = tree.dotted(held.targets[0]).rpartition(".")[2].lower() if isinstance(held, ast.Assign) else ""
    told = [tree.literal(one) for one in (tree.argument(call, None, "split"), *call.args[:1]) if one is not None]
    parts = [part for one in told if isinstance(one, str) for part in re.split(r"\W+", one.lower())]
    if _TRAIN.search(name) or tree.literal(tree.argument(call, None, "train")) is True:
        return False
    both = [
        part for one in source.calls("torch.utils.data.ConcatDataset") for part in tree.under(source, one, ast.Name)
    ]
    if any(isinstance(held, ast.Assign) and tree.dotted(held.targets[0]) == one.id for one in both):
        return False  # all of it is trained on
    said = tree.literal(tree.argument(call, None, "train")) is False or bool(_EVAL.search(name))
    return said or any(_EVAL.fullmatch(part) for part in parts)


def _unused(source: Source, held: ast.Assign) -> str:
    """A transform for evaluation that the function, or the file, makes and nobody reads."""
    home = tree.function(source, held)
    for one in source.all(ast.Assign):
        target, place = one.targets[0], tree.function(source, one)
        if isinstance(target, ast.Name) and place in (home, None) and _EVAL.search(target.id.lower()):
            found = uses.names(source, target.id)
            bound = [use for use in found if place is None or tree.function(source, use) is home]
            reads = [use for use in bound if isinstance(use.ctx, ast.Load)]
            if re.search("transf|tfm|aug|tf$", target.id.lower()) and not reads:
                return target.id
    return ""
