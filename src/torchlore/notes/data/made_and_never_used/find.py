"""The rule of made-and-never-used."""

import ast
import re
from collections.abc import Iterator

from torchlore.check import flow, follow, tree, uses
from torchlore.check.source import Hit, Source

WORDS = ("torch", "*sampler*|*compose*|*weight*|*stop*|*loss*")
_RANDOM = re.compile(r"Random|Jitter|AutoAugment|TrivialAugment|AugMix|RandAugment|Flip\(|MixUp|CutMix")
_WEIGHTS = re.compile(
    r"(class|cls|label)_?weights?(_\w+)?$|weights?_(of|per|for)_(each_)?(class|cls|label)(es)?$", re.IGNORECASE
)
_PLAIN = re.compile(r"weights?(_tensor|_t)?$")
_TENSOR = re.compile(r"torch\.(tensor|FloatTensor|Tensor|as_tensor|from_numpy)\(|compute_class_weight\(")
_STOPPER = re.compile(r"early_?stop", re.IGNORECASE)
_LOSS = re.compile(
    r"torch\.nn\.(functional\.)?(CrossEntropyLoss|NLLLoss|BCEWithLogitsLoss|cross_entropy|nll_loss|binary_cross_entropy_with_logits)$"
)
_SETTINGS = ("weight", "pos_weight", "label_smoothing")


def find(source: Source) -> Iterator[Hit]:
    if "DataLoader" not in source.text and not flow.may_train(source):
        return
    for one in (*uses.assigns(source, ast.Name, ast.Call), *uses.assigns(source, ast.Name, ast.BinOp)):
        name = one.targets[0]
        if not isinstance(name, ast.Name) or len(one.targets) > 1 or not _may_matter(one.value, name):
            continue
        told = _told(source, one.value, name)
        if told and _is_own(source, one) and follow.unread(source, name):
            yield source.hit(one, f"nobody is given `{name.id}`, so {told}")


def _may_matter(made: ast.expr, name: ast.Name) -> bool:
    """Whether a name, or what makes it, has one of the words; asked first."""
    func = made.func if isinstance(made, ast.Call) else made
    word = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    return word.endswith(("Sampler", "Compose", "Loss")) or "stop" in word.lower() or "weight" in name.id.lower()


def _told(source: Source, made: ast.expr, name: ast.Name) -> str:
    """What is as if the thing were not there, "" for what may be left over."""
    maker = source.name(made.func) if isinstance(made, ast.Call) else ""
    if maker.startswith("torch.utils.data.") and maker.endswith("Sampler") and "DataLoader" in source.text:
        return f"the loader draws as if it were not there: write `sampler={name.id}`"
    trains = flow.may_train(source)
    if trains and maker.endswith(".Compose") and _RANDOM.search(source.code(made)) and not _augments(source, made):
        return f"the training set is read without it: write `transform={name.id}`"
    return _told_of_training(source, made, name, maker) if trains else ""


def _told_of_training(source: Source, made: ast.expr, name: ast.Name, maker: str) -> str:
    if isinstance(made, ast.Call) and _STOPPER.search(tree.dotted(made.func).rpartition(".")[2]):
        return "nothing stops early: call it at the end of each epoch"
    weights = _WEIGHTS.search(name.id) or (_PLAIN.match(name.id) and _TENSOR.search(source.code(made)))
    losses = [one for one in _losses(source) if one is not made]
    home = tree.function(source, made)
    others = [one for one in losses if tree.function(source, one) is home] or losses
    if not others or any(_weighted(source, one) for one in others):
        return ""
    if weights:
        return f"all classes weigh the same: write `weight={name.id}`"
    given = [one.arg for one in made.keywords if one.arg in _SETTINGS] if isinstance(made, ast.Call) else []
    return f"the loss is without its `{given[0]}`: call `{name.id}`" if given and _LOSS.match(maker) else ""


def _losses(source: Source) -> Iterator[ast.Call]:
    return (call for call, name in uses.calls_under(source, "torch.nn.") if _LOSS.match(name))


def _weighted(source: Source, loss: ast.Call) -> bool:
    """Whether a loss has weights or a smoothing of its own."""
    first = 0 if source.name(loss.func).endswith("Loss") else 2
    return len(loss.args) > first or any(one.arg in (*_SETTINGS, None) for one in loss.keywords)


def _augments(source: Source, made: ast.expr) -> bool:
    """Whether something else of the file draws at random, or makes the pictures ready."""
    others = (call for call in source.all(ast.Call) if tree.dotted(call.func).endswith("Compose") and call is not made)
    return any(_RANDOM.search(source.code(one)) for one in others)


def _is_own(source: Source, one: ast.Assign) -> bool:
    """Whether no other file can read the name, and the line is not one of a class."""
    home = tree.function(source, one)
    inside = isinstance(source.parents[one], ast.ClassDef)
    return not inside and (home is not None or not source.project.importers(source.module))
