"""From a run to the things that train: device, model, optimizer, schedule, average, scaler."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from torchlore.recipes import schedules
from torchlore.recipes.data import cpus
from torchlore.recipes.device import best_device, unwrap
from torchlore.recipes.features import freeze
from torchlore.recipes.optim import EMA, check_groups, decay_groups, finetune_groups, layer_decay_groups
from torchlore.recipes.seed import kept_rng, seed_everything, set_deterministic
from torchlore.train.batches import Planned, choose_workers
from torchlore.train.discover import few
from torchlore.train.files import Files
from torchlore.train.graph import WARM, WATCHED
from torchlore.train.group import World, world
from torchlore.train.jpegs import works
from torchlore.train.loop import Parts
from torchlore.train.models import Built, prepared, said, without_file
from torchlore.train.run import Refused, Run, milestones
from torchlore.train.samples import Data, Samples, Stored
from torchlore.train.tasks import Task, task_of

ENOUGH = 12  # processors that decode for one GPU: on 16 they feed a ResNet-50 at 0.96 of its rate, the GPU at 0.84
DTYPES = {"fp32": None, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Ready:
    """Everything a run needs, made and checked, before the first step."""

    run: Run
    data: Data
    built: Built
    parts: Parts
    plan: Planned
    device: torch.device
    world: World
    prepare: Callable[[Tensor], Tensor]
    plateau: schedules.Plateau | None
    workers: int = 0

    @property
    def task(self) -> Task:
        """The functions of the run's task."""
        return task_of(self.run)

    @property
    def epoch_steps(self) -> int:
        """Steps an epoch."""
        return self.plan.length(len(self.data.train.labels))

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.epoch_steps * self.run.epochs


def choose_device(run: Run, place: World) -> torch.device:
    """The device of this process, or Refused if it does not exist."""
    if run.device == "auto":
        found = best_device()
        return torch.device(found.type, place.local) if found.type == "cuda" else found
    try:
        device = torch.device(run.device)
        torch.zeros(1, device=device).tolist()
    except (RuntimeError, AssertionError, NotImplementedError):  # no such word, no such device, nothing in it (meta)
        raise Refused(
            f"--device {run.device}: torch {torch.__version__} has no such device here; `lore doctor` says why"
        ) from None
    return device


def ready(run: Run, data: Data, *, load: bool = True) -> Ready:
    """Build everything; what cannot work raises Refused here. `load=False` leaves the run's --weights out."""
    task, place = task_of(run), world()
    device = choose_device(run, place)
    if run.precision == "fp16" and device.type == "cpu":
        raise Refused("--precision fp16 needs a GPU: use bf16 on the CPU")
    if run.deterministic:
        set_deterministic()
    elif device.type == "cuda":
        torch.backends.cudnn.benchmark = True  # the sizes stay the same: look for the fastest kernels once
    seed_everything(run.seed)  # the same first weights on every process
    built = task.build_model(run if load else without_file(run), data, load=load)
    data = sized(data, run.size or built.size)
    if run.size not in (0, data.size):
        raise Refused(
            f"--size {run.size}: the pictures of {data.name} are held in memory and keep their {data.size} pixels; leave it out"
        )
    data = on_device(data, run, device, place)
    model = built.model.to(device)
    if run.channels_last:
        model = model.to(memory_format=torch.channels_last)
    if run.freeze:
        _freeze(run, built)
    if not any(one.requires_grad for one in model.parameters()):
        raise Refused(
            f"--model {run.model} has no parameter to train" + (f" beside --freeze {run.freeze}" if run.freeze else "")
        )
    model, sharded = _synced(model, device, place), run.shard and place.size > 1
    if sharded:
        from torchlore.train.shard import shard

        shard(model, device, place)
    optimizer = make_optimizer(run, built, fused=not sharded)
    seed_everything(run.seed, rank=place.rank)
    plan = task.plan(run, data, place)
    every = plan.length(len(data.train.labels))
    plateau = schedules.Plateau("max", gamma=run.gamma) if run.schedule == "plateau" else None
    prepare = prepared(built, device, run.channels_last)
    parts = Parts(
        model=model if sharded else _wrapped(run, model, device, place),
        optimizer=optimizer,
        loss=task.loss(run, prepare, device),
        rate=_rate(make_schedule(run, every), optimizer, plateau, single=device.type == "cuda"),
        accumulate=run.accumulate,
        clip=run.clip,
        precision=DTYPES[run.precision],
        scaler=torch.amp.GradScaler(device.type) if run.precision == "fp16" else None,
        ema=EMA(model, run.ema, warmup=True) if run.ema else None,
        sharded=sharded,
        replay=replayed(run, device, place),
    )
    pictures = -(-run.batch_size // place.size) * data.frames
    share = torch.empty(pictures, data.channels, data.size, data.size, dtype=torch.uint8)
    workers = choose_workers(run.workers, data.train, share, place.here)
    return Ready(run, data, built, parts, plan, device, place, prepare, plateau, workers)


def tried(made: Ready) -> Ready:
    """The same, after its model ran on two samples of the epoch's last batch, or one; Refused where it cannot train.

    What the model keeps of a batch is put back, and no random number of the run is used.
    """
    run, model = made.run, unwrap(made.parts.model)
    if run.compile in ("model", "both") or made.parts.sharded:  # compiled for this size; gathered for nothing
        return made
    job = made.plan.job(len(made.data.train.labels), 0, made.epoch_steps - 1)
    share = max(1, job.total // made.world.size)  # the smallest of all processes, so that all say the same
    micro = -(-share // run.accumulate)
    count = min(2, share % micro or micro)
    draws = None if job.draws is None else job.draws[:count]
    pictures = made.data.train.read(job.indices[:count].tolist(), draws)
    buffers = [(one, one.clone()) for one in model.buffers()]
    with kept_rng():
        try:
            out = model(made.prepare(pictures))
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            alone = "; an epoch ends with a batch of one: choose another --batch-size" if count == 1 else ""
            shape = "x".join(map(str, pictures.shape))
            raise Refused(f"--model {run.model} cannot train on a batch of {shape}: {said(error)}{alone}") from None
    with torch.no_grad():
        for one, before in buffers:
            one.copy_(before)
    want, gave = (count, len(made.data.classes)), tuple(out.shape) if isinstance(out, Tensor) else type(out).__name__
    if run.task in ("classify", "video") and gave != want:
        raise Refused(f"--model {run.model} must give a tensor {want}, a logit for each class; it gives {gave}")
    return made


def sized(data: Data, size: int) -> Data:
    """The data with its pictures read at this size; pictures held in memory keep theirs."""
    if size in (0, data.size) or data.train.resized(size) is data.train:
        return data
    train, val, test = (part.resized(size) for part in (data.train, data.val, data.test))
    return replace(data, size=size, train=train, val=val, test=test)


def on_device(data: Data, run: Run, device: torch.device, place: World) -> Data:
    """Pictures in memory move to the GPU where they take an eighth of it at most.

    It decodes plain JPEG files too where the processors could not keep up; up to half of them stay with those, as the
    device has the step to do as well. `bench/train_gpu.py` measures all ways.
    """
    if device.type != "cuda":
        return data
    room, cores = torch.cuda.mem_get_info(device)[0] // 8, cpus() // place.here

    def moved(part: Samples) -> Samples:
        if isinstance(part, Stored) and run.workers <= 0 and part.pictures.nbytes <= room:
            return replace(part, pictures=part.pictures.to(device))
        if isinstance(part, Files) and cores < ENOUGH and works(device):
            return part.decoded_on(device, min(4, cores // 4))
        return part

    return replace(data, train=moved(data.train), val=moved(data.val))


def replayed(run: Run, device: torch.device, place: World) -> int:
    """After how many steps the step becomes a CUDA graph: after those that the watch looks at; 0 for never."""
    alone = device.type == "cuda" and place.size == 1
    if run.compile in ("graph", "both") and not alone:
        raise Refused(f"--compile {run.compile} needs one process on one GPU; this is {place.size} on {device}")
    mixes = run.mixup or run.cutmix or run.confusion or run.task != "classify"
    asked = run.compile in ("graph", "both") or (run.compile == "auto" and run.model == "small" and alone and not mixes)
    return (WATCHED if run.watch else WARM) if asked else 0


def _freeze(run: Run, built: Built) -> None:
    if run.freeze == "backbone":
        freeze(built.model, keep=built.heads)
        return
    prefixes = tuple(run.freeze.split(","))
    parameters = [name for name, _ in built.model.named_parameters()]
    if lost := [prefix for prefix in prefixes if not any(name.startswith(prefix) for name in parameters)]:
        raise Refused(f"--freeze {lost[0]}: no parameter's name begins with it; they are {few(parameters)}")
    names = {name for name, _ in built.model.named_modules() if name} | set(parameters)
    holders = {name for name in names if any(prefix.startswith(f"{name}.") for prefix in prefixes)}
    freeze(built.model, keep=[name for name in names - holders if not name.startswith(prefixes)])


def make_optimizer(run: Run, built: Built, *, fused: bool = True) -> Optimizer:
    """The optimizer over groups that hold every trainable parameter exactly once."""
    if run.layer_decay < 1:
        groups = layer_decay_groups(built.model, run.lr, run.layer_decay, run.weight_decay)
    elif run.backbone_lr != 1 and built.heads:
        groups = finetune_groups(built.model, built.heads, run.lr, run.lr * run.backbone_lr, run.weight_decay)
    else:
        groups = decay_groups(built.model, run.weight_decay)
    kind: Any = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "sgd": torch.optim.SGD}[run.optimizer]
    check_groups(groups, built.model, kind)
    extra = {"momentum": run.momentum} if run.optimizer == "sgd" else {}
    made: Optimizer = kind(groups, lr=run.lr, fused=fused, **extra)
    return made


def warm_up(run: Run, every: int) -> int:
    """The steps over which the rate rises: those asked for, a fifth of the run at most."""
    return min(round(run.warmup * every), run.epochs * every // 5)


def make_schedule(run: Run, every: int) -> schedules.Schedule:
    """The learning rate's factor as a function of the step."""
    total = run.epochs * every
    marks = tuple(int(mark * every) for mark in milestones(run))
    made: dict[str, Callable[[], schedules.Schedule]] = {
        "constant": schedules.Constant,
        "plateau": schedules.Constant,
        "cosine": lambda: schedules.Cosine(total),
        "poly": lambda: schedules.Polynomial(total),
        "step": lambda: schedules.MultiStep(marks, run.gamma),
        "multistep": lambda: schedules.MultiStep(marks, run.gamma),
        "onecycle": lambda: schedules.OneCycle(total),
        "reid": lambda: schedules.MultiStep((2 * total // 3,), run.gamma),
    }
    schedule = made[run.schedule]()
    warm = warm_up(run, every)
    if not warm or run.schedule == "onecycle":
        return schedule
    if run.schedule == "reid":
        return schedules.Warmup(schedule, warm, "stepped", rung=max(1, warm // 10))
    return schedules.Warmup(schedule, warm)


def _rate(
    schedule: schedules.Schedule, optimizer: Optimizer, plateau: schedules.Plateau | None, *, single: bool
) -> Callable[[int], float]:
    """Sets the rates of a step; in single precision where a CUDA graph may hold them, so that every step sees the same."""

    def of(step: int) -> float:
        rate = schedules.apply(schedule, optimizer, step, plateau.factor if plateau else 1.0)[0]
        for group in optimizer.param_groups if single else ():
            if isinstance(group["lr"], float):
                group["lr"] = struct.unpack("f", struct.pack("f", group["lr"]))[0]
        return rate

    return of


def _wrapped(run: Run, model: nn.Module, device: torch.device, place: World) -> nn.Module:
    if run.compile in ("model", "both"):
        model.compile()
    if place.size == 1:
        return model
    ids = [device.index] if device.type == "cuda" else None
    return nn.parallel.DistributedDataParallel(model, device_ids=ids)


def _synced(model: nn.Module, device: torch.device, place: World) -> nn.Module:
    """Batch norm over the batch of all processes; torch has it for GPUs only."""
    if place.size == 1 or device.type != "cuda":
        return model
    synced: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return synced
