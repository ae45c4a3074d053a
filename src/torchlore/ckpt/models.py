"""The names and shapes that a model wants, from a name, from your own code, or from another checkpoint."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import Any

from torchlore.ckpt.reader import read_checkpoint
from torchlore.ckpt.values import BadFile
from torchlore.ckpt.weights import weights


def model_specs(model: str, arguments: list[str]) -> dict[str, tuple[tuple[int, ...], str]]:
    """Key -> shape and dtype of what a model's state_dict holds.

    `model` is a checkpoint, `timm:NAME`, `torchvision:NAME`, `package.module:function` or `path/to/file.py:function` of your own, or
    a bare name that torchvision or timm knows. Your own function is run, from the current folder; that is the only code that runs.
    """
    if Path(model).exists():
        state = weights(read_checkpoint(model))
        return {key: (tensor.shape, tensor.dtype) for key, tensor in state.items()}
    built = _build(model, dict(_argument(text) for text in arguments))
    return {key: (tuple(value.shape), str(value.dtype).removeprefix("torch.")) for key, value in built.items()}


def _argument(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadFile(f"--arg {text}: write NAME=VALUE.")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _build(model: str, arguments: dict[str, Any]) -> dict[str, Any]:
    import torch

    owner, colon, name = model.partition(":")
    make = _named(owner, name) if colon else _known(model)
    try:
        with torch.device("meta"):  # shapes only: a large model costs nothing
            built = make(**arguments) if callable(make) and not isinstance(make, torch.nn.Module) else make
    except NotImplementedError:  # its constructor reads numbers
        built = make(**arguments)
    except TypeError as error:
        raise BadFile(f"{model}: it cannot be built ({error}); give its arguments with --arg NAME=VALUE.") from None
    if not isinstance(built, torch.nn.Module):
        raise BadFile(f"{model}: it gave {type(built).__name__}, expected an nn.Module.")
    return dict(built.state_dict())


def _named(owner: str, name: str) -> Any:
    if owner == "timm":
        return _timm(name)
    if owner == "torchvision":
        return _torchvision(name)
    path = Path(owner)
    folder, module = (path.parent.absolute(), path.stem) if owner.endswith(".py") else (Path.cwd(), owner)
    if owner.endswith(".py") and not path.is_file():
        raise BadFile(f"{owner}:{name}: there is no file {owner}.")
    sys.path.insert(0, str(folder))
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ImportError as error:
        raise BadFile(f"{owner}:{name}: the module cannot be imported ({error}).") from None
    except AttributeError:
        raise BadFile(f"{owner}:{name}: the module {owner} has no {name}.") from None
    finally:
        sys.path.pop(0)
    return found


def _known(model: str) -> Any:
    import torchvision

    if model.lower() in torchvision.models.list_models():
        return _torchvision(model)
    try:
        return _timm(model)
    except (BadFile, ImportError):
        raise BadFile(
            f"{model}: no file, and no model of torchvision or timm; write timm:NAME or path/to/file.py:function."
        ) from None


def _torchvision(name: str) -> Any:
    from torchvision.models import get_model, list_models

    if name.lower() not in list_models():
        raise BadFile(f"torchvision:{name}: there is no such model; torchvision.models.list_models() lists them.")
    return lambda **arguments: get_model(name, weights=None, **arguments)


def _timm(name: str) -> Any:
    import timm

    if not timm.is_model(name.split(".", maxsplit=1)[0]):
        raise BadFile(f"timm:{name}: there is no such model; timm.list_models('*') lists them.")
    return lambda **arguments: timm.create_model(name, pretrained=False, **arguments)
