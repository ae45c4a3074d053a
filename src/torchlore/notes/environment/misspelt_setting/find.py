"""What a file shows of it."""

import ast
import difflib
from collections.abc import Iterator

from torchlore.check import edits, scopes, tree, uses, values
from torchlore.check.source import Hit, Source

_KEYS = {"learning_rate": "lr", "learningrate": "lr", "LR": "lr", "Lr": "lr", "learn_rate": "lr", "lrs": "lr",
         "weightdecay": "weight_decay", "weight-decay": "weight_decay", "weight_decays": "weight_decay",
         "wd": "weight_decay", "momentun": "momentum", "momentums": "momentum", "beta": "betas"}  # fmt: skip
_CUDNN = ("benchmark", "deterministic", "enabled", "allow_tf32")
_LAYER = {"weights": "weight", "biases": "bias", "momentun": "momentum", "dropout": "p", "trainning": "training"}
_OPTIMIZERS = tuple(f"torch.optim.{name}" for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam",
                                                       "RAdam", "Adamax", "ASGD", "LBFGS", "Rprop"))  # fmt: skip

WORDS = ("|".join(("lr", "learning_rate", "defaults", "decay", "cudnn", *_KEYS.keys() - {"weight-decay"}, *_LAYER)),)


def find(source: Source) -> Iterator[Hit]:
    yield from _beside(source)
    for target in _targets(source):
        right = _right_name(source, target)
        if right is not None and isinstance(target, ast.Subscript):
            edit = edits.replace(source, target.slice, f'"{right}"')
            yield source.hit(target, f"nobody reads {source.code(target.slice)}: the name is `{right}`", edit)
        elif right is not None and isinstance(target, ast.Attribute):
            edit = edits.rename(source, target, right)
            yield source.hit(target, f"nobody reads `{target.attr}`: the name is `{right}`", edit)


def _beside(source: Source) -> Iterator[Hit]:
    """`optimizer.lr = ...` and `optimizer.defaults["lr"] = ...`; new groups take the defaults."""
    for one in (
        *uses.attributes(source, "lr"),
        *uses.attributes(source, "learning_rate"),
        *uses.attributes(source, "defaults"),
    ):
        up = source.parents[one]
        key = tree.literal(up.slice) if isinstance(up, ast.Subscript) and up.value is one else None
        entry = key == "lr" or (key in ("weight_decay", "momentum", "betas") and "add_param_group" not in source.text)
        target: ast.AST = up if entry and one.attr == "defaults" else one
        stored = isinstance(getattr(target, "ctx", None), ast.Store)
        if not stored or _is_own(source, one.value):
            continue
        if one.attr == "defaults" and "param_groups" in source.code(tree.function(source, one) or one):
            continue  # the groups are told as well
        if (one.attr != "defaults" or target is up) and values.made_by(source, one.value, *_OPTIMIZERS):
            code, setting = source.code(one.value), key if entry else "lr"
            yield source.hit(target, f'`{source.code(target)}` is never read: write into the groups, '
                             f'`for group in {code}.param_groups: group["{setting}"] = ...`')  # fmt: skip


def _targets(source: Source) -> Iterator[ast.expr]:
    """What is written to that may be a setting."""
    if "param_groups" in source.text or "cudnn" in source.text:
        yield from (target for assign in source.all(ast.Assign) for target in assign.targets)
        yield from (one.target for one in source.all(ast.AugAssign))
    else:
        layers = (one for one in uses.any_attributes(source, {*_LAYER}) if isinstance(one.ctx, ast.Store))
        yield from (one for one in layers if isinstance(source.parents[one], ast.Assign | ast.AugAssign))


def _right_name(source: Source, target: ast.expr) -> str | None:
    """The setting that is meant, where the name is a near miss."""
    if isinstance(target, ast.Subscript):
        key = tree.literal(target.slice)
        return _KEYS[key] if isinstance(key, str) and key in _KEYS and _is_group(source, target.value) else None
    if not isinstance(target, ast.Attribute) or not (target.attr in _LAYER or "cudnn" in source.text):
        return None
    if source.name(target.value) == "torch.backends.cudnn":
        near = difflib.get_close_matches(target.attr, _CUDNN, n=1, cutoff=0.8)
        return near[0] if near and target.attr not in _CUDNN else None
    known = target.attr in _LAYER and not _is_own(source, target.value)
    made = values.values(source, target.value) if known else ()
    built_in = made and all(value.kind == "module" and value.name.startswith("torch.nn.") for value in made)
    right = _LAYER.get(target.attr)
    return right if built_in and (right != "p" or all("Dropout" in value.name for value in made)) else None


def _is_own(source: Source, node: ast.expr) -> bool:
    """`self` of a method: an object of this very class, which is none of torch's."""
    home = tree.function(source, node) if isinstance(node, ast.Name) and node.id == "self" else None
    return (
        home is not None
        and tree.method_class(source, home) is not None
        and [one.arg for one in home.args.args[:1]] == ["self"]
    )


def _is_group(source: Source, node: ast.expr) -> bool:
    """`optimizer.param_groups[0]`, or the variable of a loop over them."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "param_groups"
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    return bool(found) and all(
        one.how == "for" and one.value and "param_groups" in source.code(one.value) for one in found
    )
