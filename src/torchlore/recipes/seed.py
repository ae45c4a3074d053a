"""Seeds: every library at once, a hash for derived seeds, the saved state of every generator, full determinism."""

from __future__ import annotations

import hashlib
import operator
import os
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from torchlore.recipes import _wants

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKSPACE = ":4096:8"  # one of the two values with which cuBLAS promises the same bits again


def derive(seed: int, *parts: int | str) -> int:
    """Give a seed that is a hash of a seed and what it is for, the same on every machine and Python.

    Neighbouring seeds of one generator are not independent streams, and Python's own `hash` changes from run to run.

    Args:
        seed: The seed of the whole run.
        parts: What the new seed is for, such as `"order", epoch`.

    Returns:
        A number of 63 bits.

    >>> derive(0, "order", 3)
    386106667988085106
    """
    try:
        index = operator.index
        text = repr((int(index(seed)), *(part if isinstance(part, str) else int(index(part)) for part in parts)))
    except TypeError:
        _wants.whole("derive", seed=seed)
        raise TypeError(f"derive: parts are {parts!r}; they must be whole numbers and texts.") from None
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


def _seed_numpy(seed: int) -> None:
    import numpy as np

    np.random.seed(seed % 2**32)  # noqa: NPY002 - the global generator is the one that other people's code draws from


def seed_everything(seed: int, rank: int = 0) -> torch.Generator:
    """Seed `random`, NumPy and torch on every device, differently on every rank.

    Args:
        seed: The seed of the run, the same on all ranks.
        rank: The number of this process, so that ranks do not draw the same noise.

    Returns:
        A generator to give to `DataLoader(generator=...)`; workers derive their own seeds from it.

    >>> loader_generator = seed_everything(0)
    >>> first = torch.rand(1)
    >>> _ = seed_everything(0)
    >>> bool(first == torch.rand(1))
    True
    """
    _wants.whole("seed_everything", 0, 2**63 - 1, seed=seed)
    _wants.whole("seed_everything", 0, rank=rank)
    mine = seed if rank == 0 else derive(seed, "rank", rank)
    random.seed(mine)
    _seed_numpy(mine)
    torch.manual_seed(mine)
    return torch.Generator().manual_seed(derive(seed, "loader", rank))


def worker_init(worker_id: int) -> None:
    """Seed `random` and NumPy inside a DataLoader worker; give it as `worker_init_fn`.

    Torch has already given each worker a seed of its own. NumPy and `random` get a hash of it here, so that neither a
    fork nor a neighbouring seed makes two workers draw alike.

    Args:
        worker_id: The worker's number, passed by the DataLoader.

    >>> worker_init(0); a = random.random(); worker_init(1); a == random.random()
    False
    """
    _wants.whole("worker_init", worker_id=worker_id)
    seed = derive(torch.initial_seed(), "worker", worker_id)
    random.seed(seed)
    _seed_numpy(seed)


def rng_state() -> dict[str, Any]:
    """Read the state of every generator as tensors and numbers, so that it loads with `weights_only=True`.

    Returns:
        The states of `random`, NumPy, torch on the CPU and torch on every CUDA device that is in use.

    >>> state = rng_state(); a = torch.rand(1); restore_rng(state); bool(a == torch.rand(1))
    True
    """
    import numpy as np

    version, numbers, gauss = random.getstate()
    legacy: dict[str, Any] = dict(np.random.get_state(legacy=False))  # noqa: NPY002 - the global generator is meant
    return {
        "python": {"version": version, "numbers": torch.tensor(numbers), "gauss": gauss},
        "numpy": {
            "kind": str(legacy["bit_generator"]),
            "key": torch.from_numpy(legacy["state"]["key"].astype("int64")),
            "pos": int(legacy["state"]["pos"]),
            "has_gauss": int(legacy["has_gauss"]),
            "gauss": float(legacy["gauss"]),
        },
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
    }


def restore_rng(state: dict[str, Any]) -> None:
    """Put back what `rng_state` read.

    A CUDA state is put back on as many devices as there are; on a machine without CUDA it is left out.

    Args:
        state: The result of `rng_state`.

    >>> state = rng_state(); a = random.random(); restore_rng(state); a == random.random()
    True
    """
    import numpy as np

    _wants.kind("restore_rng", dict, "what rng_state() returned", state=state)
    missing = [key for key in ("python", "numpy", "torch", "cuda") if key not in state]
    if missing:
        held = ", ".join(map(str, state)) or "nothing"
        raise ValueError(
            f"restore_rng: state holds {held} and lacks {', '.join(missing)}; give what rng_state() returned."
        )
    python, legacy = state["python"], state["numpy"]
    random.setstate((python["version"], tuple(python["numbers"].tolist()), python["gauss"]))
    key = legacy["key"].cpu().numpy().astype(np.uint32)
    np.random.set_state(  # noqa: NPY002 - the global generator is meant
        (legacy["kind"], key, legacy["pos"], legacy["has_gauss"], legacy["gauss"])
    )
    torch.set_rng_state(state["torch"].cpu())
    if torch.cuda.is_available():
        for index, one in enumerate(state["cuda"][: torch.cuda.device_count()]):
            torch.cuda.set_rng_state(one.cpu(), index)


def seed_cpu(seed: int) -> None:
    """Seed `random`, NumPy and torch's CPU generator, and leave devices alone: cheap enough for every sample.

    >>> seed_cpu(7); a = torch.rand(1); seed_cpu(7); bool(a == torch.rand(1))
    True
    """
    if not isinstance(seed, int):  # asked first: this runs for every sample
        _wants.whole("seed_cpu", seed=seed)
    random.seed(seed)
    _seed_numpy(seed)
    torch.default_generator.manual_seed(seed)


@contextmanager
def kept_rng() -> Iterator[None]:
    """After the block, `random`, NumPy and torch on the CPU go on as if nothing had been drawn in it.

    >>> state = torch.get_rng_state()
    >>> with kept_rng(): _ = torch.rand(1)
    >>> torch.equal(state, torch.get_rng_state())
    True
    """
    import numpy as np

    saved = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002 - the global one is meant
    try:
        yield
    finally:
        random.setstate(saved[0])
        np.random.set_state(saved[1])  # noqa: NPY002 - the global generator is meant
        torch.set_rng_state(saved[2])


@contextmanager
def seeded(seed: int) -> Iterator[torch.Generator]:
    """Inside, every CPU generator starts from one seed; after it, all go on as if nothing had been drawn.

    This is what makes a sample's augmentation a function of `derive(seed, epoch, index)` for any transform, whether it
    draws from torch, NumPy, `random` or the generator that is handed over. CUDA generators are left alone.

    Args:
        seed: The seed inside the block.

    Yields:
        A generator of its own with the same seed.

    >>> with seeded(7): a = torch.rand(1)
    >>> with seeded(7): bool(a == torch.rand(1))
    True
    """
    _wants.whole("seeded", seed=seed)
    with kept_rng():
        seed_cpu(seed)
        yield torch.Generator().manual_seed(seed)


def set_deterministic(on: bool = True, warn_only: bool = False) -> None:
    """Ask torch for the same bits in every run, or stop asking.

    Sets `use_deterministic_algorithms`, switches cuDNN's search for the fastest algorithm off and gives cuBLAS a fixed
    workspace. On a CPU it costs next to nothing. On a GPU the search is what makes convolutions fast, some operations
    have only a slow deterministic form, and some have none and raise; `bench/recipes_b.py` prints the cost on your
    machine. Seeds are another matter: call `seed_everything` as well.

    Args:
        on: Whether to ask or to go back to torch's defaults.
        warn_only: Warn instead of raising where an operation has no deterministic form.

    >>> set_deterministic(); torch.are_deterministic_algorithms_enabled()
    True
    >>> set_deterministic(False); torch.are_deterministic_algorithms_enabled()
    False
    """
    if on and torch.cuda.is_initialized() and "CUBLAS_WORKSPACE_CONFIG" not in os.environ:
        raise RuntimeError(
            "CUDA is already in use without CUBLAS_WORKSPACE_CONFIG; call set_deterministic() before the first CUDA "
            f"tensor, or start the program with CUBLAS_WORKSPACE_CONFIG={WORKSPACE}"
        )
    if on:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", WORKSPACE)
    torch.use_deterministic_algorithms(on, warn_only=warn_only)
    torch.backends.cudnn.deterministic = on
    torch.backends.cudnn.benchmark = False


@contextmanager
def deterministic(warn_only: bool = False) -> Iterator[None]:
    """Ask for determinism inside the block and put every flag back after it.

    Args:
        warn_only: Warn instead of raising where an operation has no deterministic form.

    >>> with deterministic(): torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    cudnn = torch.backends.cudnn
    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        cudnn.deterministic,
        cudnn.benchmark,
    )
    set_deterministic(warn_only=warn_only)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        cudnn.deterministic, cudnn.benchmark = before[2:]
