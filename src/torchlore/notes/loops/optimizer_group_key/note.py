"""An optimizer's groups are dicts with the key "params"; any other name for it is a KeyError.

`torch.optim.SGD([{"parameters": biases, "weight_decay": 0}])` stops with `KeyError: 'params'`, which does not say that
your key is the problem. A misspelt option beside it is worse: `{"params": p, "learning_rate": 1e-3}` is accepted, the
key is kept and never read, and the group trains at the default rate. Handing over `model.parameters` without the call
is a TypeError.

Write `"params"`, and name options as the optimizer's constructor does: `lr`, `weight_decay`, `momentum`, `betas`.
"""

import ast
from collections.abc import Iterator
from typing import Annotated

from torchlore.check import api, calls, containers, edits, flow, groups, tree, uses, values
from torchlore.check.source import Hit, Source
from torchlore.watch.pictures import Alarm, Call

ROWS = ("train-weight-decay",)
SOURCES = ("003:472-479",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["head_lr"] == 0.1  # the rate of the call: the misspelt one is never read
    assert good["head_lr"] == 0.01
    model = nn.Linear(2, 2)
    try:
        torch.optim.SGD([{"parameters": model.parameters()}], lr=0.1)
    except KeyError as error:
        assert error.args == ("params",)  # noqa: PT017 - a claim runs without pytest
    else:
        raise AssertionError("a group without params was accepted")


_MEANT = {"parameters": "params", "param": "params", "parameter": "params", "weights": "params", "learning_rate": "lr",
          "learningrate": "lr", "weightdecay": "weight_decay", "weight-decay": "weight_decay", "wd": "weight_decay",
          "beta": "betas", "weight_decay_rate": "weight_decay", "weight_decays": "weight_decay",
          "learning_rates": "lr", "lrate": "lr"}  # fmt: skip

WORDS = (api.OPTIMIZERS, "|".join(one for one in _MEANT if "-" not in one) + "|decay")


def find(source: Source) -> Iterator[Hit]:
    for call, name in uses.calls_under(source, "torch.optim."):
        if not (name[12:13].isupper() and name.count(".") == 2):
            continue
        given = tree.argument(call, 0, "params")
        method = given if isinstance(given, ast.Attribute) and given.attr == "parameters" else None
        if method is not None and values.sure(source, method.value, "module"):
            told = f"`{source.code(method)}` is the method itself: call it, `{source.code(method)}()`"
            yield source.hit(method, told, edits.append(source, method, "()"))
        for value in source.values(given) if given is not None else ():
            for group in [one for item in value.items for one in item] if value.kind == "list" else []:
                if isinstance(group.node, ast.Dict | ast.Call) and group.source is source:
                    yield from _keys(source, group.node)
        for added in _appended(source, given):
            yield from _keys(source, added)


def _appended(source: Source, given: ast.expr | None) -> list[ast.Dict | ast.Call]:
    """The groups that are put into the list one by one, in this function or in the one that gives it back."""
    made = flow.called(source, given) if isinstance(given, ast.Call) else None
    back = calls.returned(made) if made is not None and made.source is source else []
    name = back[0] if len(back) == 1 else given
    home = tree.function(source, name) or source.tree if isinstance(name, ast.Name) else None
    put = containers.added(source, home, name.id) if home is not None and isinstance(name, ast.Name) else []
    return [one for one in put if isinstance(one, ast.Dict | ast.Call)]


def _keys(source: Source, group: ast.Dict | ast.Call) -> Iterator[Hit]:
    keys = groups.keys(source, group)
    for key, (node, _) in keys.items():
        meant = _MEANT.get(key, "")
        got = (tree.literal(tree.argument(one, 0, "key")) for one in source.methods("get", "pop", "setdefault"))
        read = any(tree.literal(one.slice) == key for one in source.all(ast.Subscript)) or key in got
        if meant and meant not in keys and (meant == "params" or not read):
            why = "is a KeyError" if meant == "params" else "is kept and never read, the group takes the default"
            quoted = f'"{meant}"'
            edit = [] if isinstance(node, ast.keyword) else [edits.replace(source, node, quoted)]
            yield source.hit(node, f"the key `{key}` of a parameter group {why}: write {quoted}", *edit)


def watch(call: Annotated[Call, "Optimizer"]) -> Alarm | None:
    for group in getattr(call.owner, "param_groups", ()):
        for key in group:
            meant = _MEANT.get(key, "")
            if meant and meant != "params" and key not in call.owner.defaults:
                return Alarm(
                    f'the key "{key}" of a parameter group is kept and never read; write "{meant}"', certain=False
                )
    return None
