"""The rule of misspelt-method."""

import ast
import difflib
from collections.abc import Iterator
from functools import lru_cache

from torchlore.check import calls, classes
from torchlore.check.project import as_class, as_function
from torchlore.check.source import Hit, Source
from torchlore.check.tree import FunctionNode

_WANTED = {"module": ("__init__", "forward"), "loss": ("__init__", "forward"),
           "dataset": ("__init__", "__len__", "__getitem__")}  # fmt: skip
_ALL = {"__init__", "forward", "__len__", "__getitem__"}
_REAL = {"__getitems__", "_forward", "forward_", "__le__", "__ne__", "_forward_", "forwards"}  # methods of their own

_STAGES = ("train", "validation", "test", "predict")
_MOMENTS = ("start", "end", "epoch_start", "epoch_end", "batch_start", "batch_end")
_HOOKS = {f"on_{stage}_{moment}" for stage in _STAGES for moment in _MOMENTS} | {"on_fit_start", "on_fit_end"}
_HOOKS |= {"on_after_backward", "on_before_backward", "on_before_optimizer_step", "on_before_zero_grad"}
_HOOKS |= {"training_step", "validation_step", "test_step", "predict_step", "configure_optimizers"}
_MEANT = {"val": "validation", "valid": "validation", "validate": "validation", "training": "train", "testing": "test",
          "prediction": "predict", "ends": "end", "starts": "start", "begin": "start", "epochs": "epoch"}  # fmt: skip


@lru_cache(maxsize=4096)
def _near(name: str) -> bool:
    letters = set(name)  # nine tenths share too few with any of them, which is told at once
    near = () if not 5 <= len(name) <= 16 else _ALL if "_" in name else ("forward",)  # the others are half underscores
    likely = [one for one in near if sum(map(one.count, letters)) > 0.39 * (len(name) + len(one))]
    return bool(likely) and bool(difflib.get_close_matches(name, likely, n=1, cutoff=0.8))


WORDS = ("class",)


def find(source: Source) -> Iterator[Hit]:
    yield from _hooks(source) if "ightning" in source.text else ()
    for node in source.all(ast.ClassDef):
        strange = {one.name for one in node.body if isinstance(one, FunctionNode) and _near(one.name)} - _ALL - _REAL
        if not strange:
            continue
        cls = as_class(source, node)
        own = classes.methods(cls)
        wanted = [name for name in _WANTED.get(classes.kind_of_instances(cls), ()) if name not in own]
        for name in sorted(strange):
            meant = difflib.get_close_matches(name, wanted, n=1, cutoff=0.8)
            core = meant[0].strip("_") if meant else ""
            longer = {"forward"} & set(name.strip("_").split("_")) and name.strip("_") != core  # `forward_mt` says more
            if not meant or longer:
                continue
            above = (source, *(base.source for base in source.project.bases(cls)[0]))  # `self.Forward()` of the base
            if not any(f".{name}(" in one.text for one in above) and not calls.callers(as_function(source, own[name])):
                message = f"nobody calls `{cls.node.name}.{name}`: write `{meant[0]}`"
                has = any(meant[0] in classes.methods(base) for base in source.project.bases(cls)[0])
                yield source.hit(own[name], message, severity="warning" if has else None)  # a hook of the base?


def _hooks(source: Source) -> Iterator[Hit]:
    """A method of a LightningModule or a Callback whose name is nearly that of a hook."""
    for cls in classes.all_classes(source):
        above = (one for one in source.project.bases(cls)[1] if one.startswith("lightning."))
        names = {one.rpartition(".")[2] for one in above}
        if names.isdisjoint({"LightningModule", "Callback"}):
            continue
        for name, way in classes.methods(cls).items():
            meant = _hook(name) if name not in _HOOKS and not way.decorator_list else ""
            quiet = meant and meant not in classes.methods(cls) and f".{name}(" not in source.text
            if quiet and not calls.callers(as_function(source, way)):
                told = f"Lightning knows no `{name}` and never calls it: write `{meant}`"
                yield source.hit(way, told, severity="warning")


@lru_cache(maxsize=4096)
def _hook(name: str) -> str:
    """The hook that is meant, "" for a name of its own."""
    if name.startswith("on_"):
        said = "_".join(_MEANT.get(word, word) for word in name.split("_"))
        if said in _HOOKS:
            return said
    alike = [one for one in _HOOKS if one.startswith("on_") is name.startswith("on_")]  # `validation_epoch_end` of old
    near = difflib.get_close_matches(name, alike, n=1, cutoff=0.93) if len(name) > 8 else []
    return near[0] if near and not name.startswith("_") else ""
