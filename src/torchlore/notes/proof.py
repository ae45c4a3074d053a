"""What claims share: the error that a wrong form ends in, and the warnings that a stale one gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable


def error_of(work: Callable[[], object]) -> str:
    """The name of what this raises, "" if it raises nothing.

    >>> error_of(lambda: 1 / 0)
    'ZeroDivisionError'
    """
    try:
        work()
    except Exception as error:  # noqa: BLE001 - any error is the answer
        return type(error).__name__
    return ""


def warnings_of(work: Callable[[], object]) -> list[str]:
    """The warnings that this gives, each as `Category: text`.

    >>> warnings_of(lambda: warnings.warn("stale", FutureWarning, stacklevel=1))
    ['FutureWarning: stale']
    """
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        work()
    return [f"{one.category.__name__}: {one.message}" for one in seen]


def ailments_of(state: object) -> dict[str, str]:
    """What `lore ckpt show` says of a file that `torch.save` writes of this: each message by its slug.

    >>> ailments_of({"steps": 3})
    {}
    """
    import tempfile
    from pathlib import Path

    import torch

    from torchlore.ckpt.health import inspect
    from torchlore.ckpt.reader import read_checkpoint

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.pt"
        torch.save(state, path)
        return {one.slug: one.message for one in inspect(read_checkpoint(path), full=True)}
