"""Where the weights are in a checkpoint: state dicts, whole modules, EMA copies; prefixes; what a resume needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from torchlore.ckpt.describe import Opaque
from torchlore.ckpt.tensors import Tensor
from torchlore.ckpt.torchfile import Checkpoint
from torchlore.ckpt.values import BadFile

MAX_LEAVES = 300_000
WRAPPERS = ("module", "_orig_mod", "_forward_module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
_OWNERS = (*WRAPPERS, "model", "net", "network", "ema_model", "model_ema", "ema", "student", "state_dict")
_ANYWHERE = re.compile(r"(?<![^.])(_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
_PREFERRED = (
    "state_dict", "model_state_dict", "model_state", "model", "module", "net", "network", "weights", "params", "generator",
)  # fmt: skip
_STATE = re.compile(r"optim|sched|scaler|rng|random|callback|loops|sampler", re.IGNORECASE)
_EMA = re.compile(r"(^|[_./-])(ema|swa|averaged|shadow)([_./-]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value at the end of a path through dicts, lists and objects."""

    path: tuple[str, ...]
    value: Any


def leaves(root: Any) -> Iterator[Leaf]:
    """Every number, text and tensor with its path; bounded, because a small pickle can describe a huge tree."""
    left = MAX_LEAVES
    waiting: list[tuple[tuple[str, ...], Any, tuple[int, ...]]] = [((), root, ())]
    while waiting:
        path, value, above = waiting.pop()
        if id(value) in above:  # it holds itself
            continue
        children = children_of(value)[:left] if left > 0 and len(path) < 64 else []
        left -= len(children)
        if children:
            owners = (*above, id(value))
            waiting += [((*path, str(key)), item, owners) for key, item in reversed(children)]
        elif not isinstance(value, dict | list | tuple):
            yield Leaf(path, value)


def children_of(value: Any) -> list[tuple[Any, Any]]:
    """The named parts of a dict, a list or an object; nothing for a leaf."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    if isinstance(value, Opaque):
        return list(value.state.items())
    return []


def tensors(root: Any) -> dict[str, Tensor]:
    """Every tensor in the tree, by its path joined with `/`."""
    return {"/".join(leaf.path): leaf.value for leaf in leaves(root) if isinstance(leaf.value, Tensor)}


def is_module(value: Any) -> bool:
    """Whether an object was an nn.Module."""
    return isinstance(value, Opaque) and isinstance(value.state.get("_modules"), dict) and "_parameters" in value.state


def module_state(module: Opaque) -> dict[str, Tensor]:
    """The state_dict that a pickled nn.Module would give, read from its parts without building it."""
    found: dict[str, Tensor] = {}
    left = MAX_LEAVES
    waiting: list[tuple[str, Any]] = [("", module)]
    while waiting and left > 0:
        prefix, item = waiting.pop()
        if not isinstance(item, Opaque) or prefix.count(".") > 60:
            continue
        unsaved = item.state.get("_non_persistent_buffers_set")
        temporary = unsaved if isinstance(unsaved, list | tuple) else ()
        left -= 1
        for kind in ("_parameters", "_buffers"):
            part = item.state.get(kind)
            for name, value in part.items() if isinstance(part, dict) else ():
                if isinstance(value, Tensor) and name not in temporary:
                    found[f"{prefix}{name}"] = value
        below = item.state.get("_modules")
        names = list(below.items())[:left] if isinstance(below, dict) else []
        left -= len(names)
        waiting += [(f"{prefix}{name}.", value) for name, value in reversed(names)]
    return found


def script_state(module: Opaque) -> dict[str, Tensor]:
    """The tensors of a TorchScript module by dotted name."""
    found = {".".join(leaf.path): leaf.value for leaf in leaves(module) if isinstance(leaf.value, Tensor)}
    return {key: value for key, value in found.items() if not key.split(".")[-1].startswith("_")}


def groups(root: Any) -> dict[str, dict[str, Tensor]]:
    """Every set of weights in the checkpoint, by its place: `""` for the whole file, `"model"`, `"state_dict_ema"`."""
    if isinstance(root, Tensor):
        return {"": {"tensor": root}}
    if isinstance(root, Opaque) and not is_module(root):
        found = script_state(root)
        return {"": found} if found else {}
    found_groups: dict[str, dict[str, Tensor]] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), root)]
    left = 20_000
    while waiting:
        path, value = waiting.pop()
        name = "/".join(path)
        if is_module(value):
            found_groups[name] = module_state(value)
        elif isinstance(value, dict) and _is_state(value):
            found_groups[name] = {str(key): item for key, item in value.items() if isinstance(item, Tensor)}
        elif left > 0 and len(path) < 4 and not (path and _STATE.search(path[-1])):
            below = children_of(value)[: min(left, 1000)]
            left -= len(below)
            waiting += [((*path, str(key)), item) for key, item in reversed(below)]
    return found_groups or _nested(root)


def _is_state(value: dict[Any, Any]) -> bool:
    found = [key for key, item in value.items() if isinstance(item, Tensor) and isinstance(key, str)]
    if not found or "param_groups" in value:
        return False
    rest = [item for item in value.values() if isinstance(item, dict | list | tuple | Opaque) and children_of(item)]
    return len(found) > len(rest) and (len(found) > 1 or len(value) == 1)


def _nested(root: Any) -> dict[str, dict[str, Tensor]]:
    """Weights that are nested group by group, as HDF5 and JAX write them."""
    found = {}
    for leaf in leaves(root):
        if isinstance(leaf.value, Tensor) and not any(_STATE.search(part) for part in leaf.path):
            found[".".join(leaf.path)] = leaf.value
    return {"": found} if found else {}


def is_ema(name: str) -> bool:
    """Whether a group's name says that it holds averaged weights."""
    return bool(_EMA.search(name))


def weights(checkpoint: Checkpoint, which: str | None = None) -> dict[str, Tensor]:
    """The weights of a checkpoint: the group named `which`, `"ema"` for the averaged ones, else the obvious one."""
    found = groups(checkpoint.root)
    if which is not None:
        names = [name for name in found if name == which] or [name for name in found if which == "ema" and is_ema(name)]
        if names:
            return found[names[0]]
        inner = {
            key: value for state in found.values() for key, value in state.items() if which == "ema" and is_ema(key)
        }
        if inner:
            return inner
        have = ", ".join(repr(name) for name in found) or "none"
        raise BadFile(f"{checkpoint.path}: it has no weights called {which!r}; it has {have}.")
    name = main_group(found)
    if name is None:
        raise BadFile(f"{checkpoint.path}: no weights in it (a {checkpoint.format} without named tensors).")
    return found[name]


def main_group(found: dict[str, dict[str, Tensor]]) -> str | None:
    """The group that a user means by "the weights"."""
    if not found:
        return None
    plain = [name for name in found if not is_ema(name)] or list(found)
    for wanted in ("", *_PREFERRED):
        for name in plain:
            if name == wanted or name.split("/")[-1] == wanted:
                return name
    return max(plain, key=lambda name: sum(tensor.nbytes for tensor in found[name].values()))


# prefixes ---------------------------------------------------------------------------------------------------------------


def wrapper_prefix(keys: Iterable[str]) -> str:
    """What wrappers have put in front of every key: `"module."`, `"_orig_mod."`, `"model."`, or several of them."""
    rest = [key for key in keys if key != "n_averaged"]
    prefix = ""
    while rest:
        first = rest[0].split(".")[0]
        if first not in _OWNERS or not all(key.startswith(f"{first}.") for key in rest):
            break
        prefix += f"{first}."
        rest = [key[len(first) + 1 :] for key in rest]
    return prefix


def without_prefix(state: dict[str, Any], prefix: str | None = None) -> dict[str, Any]:
    """The same weights without what wrappers put into their names; `prefix` names one of your own."""
    found = wrapper_prefix(state) if prefix is None else prefix
    out = {}
    for key, value in state.items():
        if key == "n_averaged" and prefix is None:
            continue
        if prefix is not None and not key.startswith(prefix):
            raise BadFile(f"the key {key!r} does not begin with {prefix!r}.")
        out[_ANYWHERE.sub("", key[len(found) :])] = value
    if len(out) < len(state) - ("n_averaged" in state and prefix is None):
        raise BadFile("two keys would have the same name without their prefix.")
    return out


# what an exact resume needs ----------------------------------------------------------------------------------------------

_NEEDS = {
    "optimizer": re.compile(r"optim", re.IGNORECASE),
    "scheduler": re.compile(r"sched", re.IGNORECASE),
    "scaler": re.compile(r"scaler|native_amp_scaling|^amp$|MixedPrecision", re.IGNORECASE),
    "rng": re.compile(r"rng|random_state|random_generator|torch_seed", re.IGNORECASE),
    "epoch or step": re.compile(
        r"^(epoch|step|global_step|iter|iteration|it|steps|epochs|start_epoch|n_iter)$", re.IGNORECASE
    ),
}


def resume_parts(root: Any) -> dict[str, str]:
    """What of an exact resume is in the checkpoint: part -> the key that holds it, `""` where nothing does."""
    found = dict.fromkeys(_NEEDS, "")
    if not isinstance(root, dict):
        return found
    top = [((str(key),), value) for key, value in root.items()]
    second = [
        ((str(a), str(b)), value)
        for a, item in list(root.items())[:200]
        for b, value in children_of(item)[:200]
        if isinstance(item, dict)
    ]
    for path, value in top + second:
        if isinstance(value, dict | list | tuple) and not value:
            continue
        for need, pattern in _NEEDS.items():
            if not found[need] and value is not None and pattern.search(path[-1]):
                found[need] = "/".join(path)
    return found


def facts(root: Any) -> dict[str, Any]:
    """Epoch, metrics and other small values near the top."""
    if not isinstance(root, dict):
        return {}
    out: dict[str, Any] = {}
    for leaf in leaves({key: value for key, value in root.items() if not isinstance(value, Tensor)}):
        if len(leaf.path) <= 2 and isinstance(leaf.value, bool | int | float | str) and not _STATE.search(leaf.path[0]):
            out["/".join(leaf.path)] = leaf.value
        if len(out) >= 200:
            break
    return out
