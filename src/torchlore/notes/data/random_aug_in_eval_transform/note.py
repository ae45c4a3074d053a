"""Random augmentation in the validation transform makes the metric a lottery, and usually a worse one.

Flips, random crops and colour jitter belong to training. In the transform of the validation or test set the same picture
is another one at each evaluation: two runs of one checkpoint differ, early stopping follows the noise, and the score is
lower than the model's.

Keep it deterministic: `Resize`, `CenterCrop`, `ToDtype`, `Normalize`, or `weights.transforms()`. If you average over
augmented copies on purpose, name it so (`tta_transform`).
"""

import ast
import re
from collections.abc import Iterator

from torchlore.check import follow, tree
from torchlore.check.source import Hit, Source

ROWS = ()
SOURCES = ("https://github.com/zoogzog/chexnet/issues/27",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)
SEVERITY = "warning"
_EVAL = re.compile(r"(^|_)(val|valid|validation|test|testing|eval|evaluation|dev)(_|$)")
_TRAIN = re.compile(r"(^|_)(train|training|trn|tta|aug)")
_TTA = re.compile(r"\btta\s*=[^=]|\bn_tta|\bTTA\w*\(|test[-_ ]time[-_ ]augment")
_NAMED = re.compile(r"(^|[-_/\\])tta([-_.]|$)", re.IGNORECASE)
_SAID = re.compile(r"\brandom(ly)?(?![-\w])")
_RANDOM = re.compile(
    r"^torchvision\.transforms\.(v2\.)?(Random\w+|ColorJitter|AutoAugment|TrivialAugmentWide|RandAugment|AugMix|ElasticTransform)$"
)


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    assert not bad["repeats"]
    assert good["repeats"]


def find(source: Source) -> Iterator[Hit]:
    if "torchvision" not in source.text:
        return
    for name, value in _named(source):
        lower = name.rpartition(".")[2].lower()
        if not _EVAL.search(lower) or _TRAIN.search(lower):
            continue
        if _meant(source, value):
            continue
        for draw in _draws(source, value):
            kind = source.name(draw.func).rpartition(".")[2]
            yield source.hit(
                draw, f"{kind} draws anew at each evaluation, in `{name}`: keep it for the training transform"
            )


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


def _meant(source: Source, value: ast.expr) -> bool:
    """The author says so above it, or the file or one that imports it averages over augmented copies."""
    if _SAID.search(follow.comment(source, value)) or _NAMED.search(source.path):
        return True
    project = source.project
    users = (project.text(path) or "" for path in project.importers(source.module))
    return any(_TTA.search(text) for text in (source.text, *users))


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
