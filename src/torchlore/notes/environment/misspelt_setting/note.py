"""A setting under a misspelt name is set on nothing, and Python does not complain.

`group["learning_rate"] = 1e-4` adds a key that the optimizer never reads; it reads `"lr"`. `cudnn.benchmarks =
True` makes a new attribute of a module, `layer.weights = w` one of a layer. The run goes on with the old
value, and the log says that it was changed.

Write the name that is read: `group["lr"]`, `torch.backends.cudnn.benchmark`, `layer.weight`. `print(optimizer)` shows
every key of every group, a stray one as well.
"""

import ast
import difflib
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, scopes, tree, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Step

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    assert bad["moved"] > good["moved"] * 5  # it went on at the old rate
    assert bad["searches"] is False
    assert good["searches"] is True


_KEYS = {"learning_rate": "lr", "learningrate": "lr", "LR": "lr", "Lr": "lr", "learn_rate": "lr", "lrs": "lr",
         "weightdecay": "weight_decay", "weight-decay": "weight_decay", "weight_decays": "weight_decay",
         "wd": "weight_decay", "momentun": "momentum", "momentums": "momentum", "beta": "betas"}  # fmt: skip
_CUDNN = ("benchmark", "deterministic", "enabled", "allow_tf32")
_LAYER = {"weights": "weight", "biases": "bias", "momentun": "momentum", "dropout": "p", "trainning": "training"}


def find(source: Source) -> Iterator[Hit]:
    targets = [target for assign in source.all(ast.Assign) for target in assign.targets]
    for target in (*targets, *(one.target for one in source.all(ast.AugAssign))):
        right = _right_name(source, target)
        if right is not None and isinstance(target, ast.Subscript):
            edit = edits.replace(source, target.slice, f'"{right}"')
            yield source.hit(target, f"nobody reads {source.code(target.slice)}: the name is `{right}`", edit)
        elif right is not None and isinstance(target, ast.Attribute):
            edit = edits.rename(source, target, right)
            yield source.hit(target, f"nobody reads `{target.attr}`: the name is `{right}`", edit)


def _right_name(source: Source, target: ast.expr) -> str | None:
    """The setting that is meant, where the name is a near miss."""
    if isinstance(target, ast.Subscript):
        key = tree.literal(target.slice)
        return _KEYS[key] if isinstance(key, str) and key in _KEYS and _is_group(source, target.value) else None
    if not isinstance(target, ast.Attribute):
        return None
    if source.name(target.value) == "torch.backends.cudnn":
        near = difflib.get_close_matches(target.attr, _CUDNN, n=1, cutoff=0.8)
        return near[0] if near and target.attr not in _CUDNN else None
    made = values.values(source, target.value) if target.attr in _LAYER else ()
    built_in = made and all(value.kind == "module" and value.name.startswith("torch.nn.") for value in made)
    right = _LAYER.get(target.attr)
    return right if built_in and (right != "p" or all("Dropout" in value.name for value in made)) else None


def _is_group(source: Source, node: ast.expr) -> bool:
    """`optimizer.param_groups[0]`, or the variable of a loop over them."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "param_groups"
    found = scopes.reaching(source, node) if isinstance(node, ast.Name) else []
    return bool(found) and all(
        one.how == "for" and one.value and "param_groups" in source.code(one.value) for one in found
    )


def watch(step: Step) -> Alarm | None:
    for key in {"lr", *_KEYS} & vars(step.optimizer).keys():  # a subclass may have one, and reads it
        if type(step.optimizer).__module__.startswith("torch.optim"):
            told = f'`optimizer.{key}` is an attribute that nobody reads; set `group["lr"]` of optimizer.param_groups'
            return Alarm(told, at=step.record.place)
    default = step.optimizer.defaults.get("lr")
    moved = step.memory.setdefault("lr", default) != default and step.rates == step.record.first_rates
    if moved and not step.record.schedulers:
        return Alarm(
            '`optimizer.defaults["lr"]` is read when a group is made, and never again; set it in optimizer.param_groups'
        )
    for group in step.groups if step.number <= 3 else ():
        for key in _KEYS.keys() & group.keys():
            return Alarm(
                f'the optimizer has a key "{key}" that nobody reads: the name is "{_KEYS[key]}"', at=step.record.place
            )
    return None
