"""Several processes: torchrun says who is who, and the few things they must agree on. One process does none of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from torchlore.train.run import Refused

T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """Which of how many processes this is."""

    rank: int = 0
    size: int = 1
    local: int = 0
    here: int = 1  # processes on this machine


def world() -> World:
    """What torchrun put into the environment; one process without it."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    return World(
        int(os.environ.get("RANK", "0")),
        size,
        int(os.environ.get("LOCAL_RANK", "0")),
        int(os.environ.get("LOCAL_WORLD_SIZE", "1")),
    )


@contextmanager
def joined(place: World) -> Iterator[World]:
    """Join the other processes, and leave them in order.

    A torchrun that starts its processes again may keep the store of those that ended, so each attempt has keys of its own: with the old ones a process waits half an hour at the address of a dead one.
    """
    if place.size == 1:
        yield place
        return
    cuda = torch.cuda.is_available()
    if cuda:
        torch.cuda.set_device(place.local)
    from torch.distributed.distributed_c10d import PrefixStore  # not in every build of torch
    from torch.distributed.rendezvous import rendezvous

    store, rank, size = next(rendezvous("env://"))
    attempt = PrefixStore(f"attempt {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
    dist.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo", store=attempt, rank=rank, world_size=size)
    try:
        yield place
        dist.barrier()  # one that hangs up while another still listens can end it with an abort
    finally:
        dist.destroy_process_group()


def leave(place: World, status: int) -> int:
    """The exit status of one process; one of several ends here and at once.

    A thread of the process group that wakes while Python shuts down would abort it ("terminate called without an active exception").
    """
    if place.size > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


def led(place: World, make: Callable[[], T]) -> T:
    """What the first process made, on all of them; where it was refused, all are."""
    if place.size == 1:
        return make()
    answer: tuple[Any, str] = (None, "")
    if place.rank == 0:
        try:
            answer = (make(), "")
        except Refused as refused:
            answer = (None, str(refused))
    made, reason = everyone(place, answer)[0]
    if reason:
        raise Refused(reason)
    found: T = made
    return found


def anyone(place: World, flag: bool) -> bool:
    """Whether any process says yes; all get the same answer."""
    if place.size == 1:
        return flag
    said = torch.tensor(int(flag))
    dist.all_reduce(said, op=dist.ReduceOp.MAX)
    return bool(said)


def mean(place: World, value: Tensor) -> Tensor:
    """The mean of a number over the processes."""
    if place.size == 1:
        return value
    total = value.detach().cpu().double()
    dist.all_reduce(total)
    return total / place.size


def same_buffers(place: World, model: nn.Module) -> None:
    """Give all processes the buffers of the first: each has the running statistics of its own samples."""
    if place.size > 1:
        for buffer in model.buffers():
            dist.broadcast(buffer, 0)


def everyone(place: World, value: Any) -> list[Any]:
    """What each process has, in the order of their ranks."""
    if place.size == 1:
        return [value]
    found: list[Any] = [None] * place.size
    dist.all_gather_object(found, value)
    return found
