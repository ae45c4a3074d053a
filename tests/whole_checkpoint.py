"""Compare everything that two checkpoints hold."""

import torch


def flat(value: object, name: str = "") -> dict[str, object]:
    """Everything a checkpoint holds, by its path."""
    if isinstance(value, dict):
        return {k: v for key, one in value.items() for k, v in flat(one, f"{name}/{key}").items()}
    if isinstance(value, list | tuple):
        return {k: v for at, one in enumerate(value) for k, v in flat(one, f"{name}/{at}").items()}
    return {name: value}


def same(one: object, other: object) -> bool:
    """Whether two values are alike to the last bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one, other)
    return type(one) is type(other) and one == other


def differences(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """The names of what is not the same in both."""
    first, second = flat(one), flat(other)
    return [name for name in first.keys() | second.keys() if not same(first.get(name), second.get(name))]
