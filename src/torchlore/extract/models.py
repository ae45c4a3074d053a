"""A model by its name with its own head, the same weights every time it is built, and a hash of them."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from urllib.error import URLError

import torch
from torch import nn

from torchlore.recipes.device import best_device
from torchlore.recipes.features import find_heads
from torchlore.recipes.seed import seeded
from torchlore.recipes.weights import align, load_into, pick, read
from torchlore.train.models import Built, build
from torchlore.train.run import Refused, Run


def usual_weights(model: str) -> str:
    """What --weights means where it is not given: the published ones, where a model has any."""
    return "none" if model == "small" or ".py:" in model else "default"


def open_model(model: str, weights: str, channels: int = 3) -> Built:
    """The model in evaluation mode with its own head; without weights it is random, but the same each time."""
    with seeded(0), warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "The default weight initialization", FutureWarning
        )  # Inception's and GoogLeNet's
        built = _built(model, weights, channels)
    built.model.eval()
    return built


def _built(model: str, weights: str, channels: int) -> Built:
    plain = Run(model=model, weights="none")
    if Path(weights).is_file():
        return _from_file(plain, weights, channels)
    if weights != "none" and usual_weights(model) == "none":
        raise Refused(f"--weights {weights}: there is no such file, and {model} has no published weights")
    try:
        return build(Run(model=model, weights=weights), 0, channels)
    except (URLError, OSError) as error:
        reason = " ".join(str(error).split())
        raise Refused(
            f"the weights {weights!r} of {model} cannot be fetched ({reason}): give a checkpoint with --weights FILE, "
            "or --weights none for random ones"
        ) from None


def _from_file(plain: Run, weights: str, channels: int) -> Built:
    """As many classes as the checkpoint's head has, and every weight of it accounted for."""
    built = build(plain, 0, channels)
    try:
        state = pick(read(weights))
        classes = _classes(built, state)
        if classes:
            built = build(plain, classes, channels)
        report = load_into(built.model, state)
    except (ValueError, OSError, RuntimeError) as error:
        reason = "; ".join(line.strip() for line in str(error).splitlines() if "partial=True" not in line)
        raise Refused(f"--weights {weights} does not fit {plain.model}: {reason}") from None
    return Built(**{**vars(built), "loaded": str(report)})


def _classes(built: Built, state: dict[str, torch.Tensor]) -> int:
    layers = [one for one in built.model.modules() if isinstance(one, nn.Linear | nn.Conv2d)]
    if not layers:
        return 0
    head = (built.heads or tuple(find_heads(built.model)))[0]
    found = align(state, built.model.state_dict())[0].get(f"{head}.weight")
    return 0 if found is None else int(found.shape[0])


def digest(model: nn.Module) -> str:
    """A hash of all weights and buffers."""
    total = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        total.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        total.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()[:32]


def chosen_device(name: str = "", number: int | None = None) -> torch.device:
    """A device by its name, or the best there is; several processes on a machine each take their own."""
    try:
        device = torch.device(name) if name else best_device()
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise Refused(f"--device {name}: {str(error).splitlines()[0]}") from None
    return device if number is None or device.type == "cpu" else torch.device(device.type, number)
