"""What a running program shows of it."""

import weakref
from collections.abc import Iterator
from typing import Annotated, Any

from torchlore.watch.pictures import Alarm, Call, Step

_FREEZES = r"requires_grad\s*=\s*False|requires_grad_\(\s*(requires_grad\s*=\s*)?False"


def watch(picture: Annotated[Call, "Module.load_state_dict"] | Step) -> Alarm | None:
    learnt = picture.notes.setdefault("learnt", {})  # id -> weak reference of what was loaded or stepped
    if isinstance(picture, Call):
        learnt.update((id(one), weakref.ref(one)) for one in picture.owner.parameters())
        return None
    if picture.number == 1:
        held = (one.tensor for one in picture.trainable)
        learnt.update((id(one), weakref.ref(one)) for one in held)
    if picture.number != 3 or picture.place is None:
        return None
    for module in picture.run.modules():
        frozen = list(_frozen(module))
        old = [name for name, layer in frozen if _is(learnt, layer.weight)]
        new = [(name, layer) for name, layer in frozen if not _is(learnt, layer.weight) and _as_drawn(layer.weight)]
        if new and 2 * len(new) <= len(old) and any(one.requires_grad for one in module.parameters()):
            name, layer = new[-1]
            told = f"`{name}` is new and frozen with the layers that were trained, so it stays as it was drawn: freeze before you put "
            told += f"it in, or call `{name}.requires_grad_(True)`"
            facts = f"its {layer.weight.numel()} weights are those of a fresh {type(layer).__name__}; {len(old)} frozen layers were trained or loaded"
            return Alarm(told, at=picture.place.first(_FREEZES), evidence=facts)
    return None


def _is(learnt: dict[int, Any], tensor: Any) -> bool:
    """Whether this very tensor was loaded or stepped, and not one that had its id."""
    return id(tensor) in learnt and learnt[id(tensor)]() is tensor


def _frozen(module: Any) -> Iterator[tuple[str, Any]]:
    """The linear and convolution layers of a network that are not trained."""
    for name, layer in module.named_modules():
        weight: Any = getattr(layer, "weight", None)
        plain = type(layer).__module__ in ("torch.nn.modules.linear", "torch.nn.modules.conv")
        if plain and hasattr(weight, "dim") and weight.dim() > 1 and not weight.requires_grad:
            yield name, layer


def _as_drawn(weight: Any) -> bool:
    """Whether the numbers are as PyTorch draws them: even between plus and minus one by the root of the inputs."""
    if not weight.is_cpu or weight.numel() < 32:
        return False
    bound = weight[0].numel() ** -0.5
    spread = float(weight.detach().float().std()) * 3**0.5 / bound
    return bool(float(weight.detach().abs().max()) <= bound * 1.001 and 0.75 < spread < 1.25)
