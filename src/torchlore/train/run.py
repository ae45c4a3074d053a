"""Everything a training run depends on, as one frozen record: a field is a flag, a line of the file, a line of the report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

OPTIMIZERS = ("adamw", "adam", "sgd")
SCHEDULES = ("cosine", "constant", "step", "multistep", "poly", "onecycle", "plateau", "reid")
AUGMENTS = ("none", "flip", "shift", "crop")
PRECISIONS = ("fp32", "bf16", "fp16")
COMPILES = ("auto", "none", "model", "graph", "both")
LOGGERS = ("tensorboard", "visdom", "csv")
TINY, BELOW = math.ulp(0), math.nextafter(1, 0)  # the smallest number above 0, the largest below 1


class Refused(ValueError):
    """The run cannot work as asked; the message says which options and why."""


class Trouble(RuntimeError):
    """The run cannot go on; the message says what happened. What was saved before is whole."""


def option(default: Any, text: str, choices: tuple[str, ...] = (), least: float = 0, most: float = math.inf) -> Any:
    """A field with its help text and its allowed values: the few there are, or the range of a number."""
    return field(default=default, metadata={"help": text, "choices": choices, "least": least, "most": most})


@dataclass(frozen=True)
class Preset:
    """What a task means for the options; its functions are in the module of its name, see `tasks.py`."""

    defaults: dict[str, Any]  # where they differ from those of `Run`
    losses: tuple[str, ...]  # what --loss may be a sum of
    unused: tuple[str, ...]  # options that would do nothing: refused if they are set


HEEDED = {  # options that only some choices of another one heed
    "milestones": ("schedule", ("step", "multistep")),
    "gamma": ("schedule", ("step", "multistep", "plateau", "reid")),
    "warmup": ("schedule", tuple(one for one in SCHEDULES if one != "onecycle")),
    "momentum": ("optimizer", ("sgd",)),
}

TASKS = {
    "classify": Preset({}, losses=("ce",), unused=("group",)),
    "video": Preset(
        {"data": "motion", "model": "motion:small", "epochs": 6, "batch_size": 32, "lr": 2e-3},
        losses=("ce",),
        unused=("confusion",),
    ),
    "embed": Preset(
        {"data": "pieces", "epochs": 15, "loss": "triplet+ce", "schedule": "reid", "warmup": 3.0, "lr": 2e-3},
        losses=("triplet", "ce"),
        unused=("accumulate", "mixup", "cutmix", "confusion"),
    ),
    "segment": Preset(
        {
            "data": "shapes",
            "model": "unet",
            "augment": "flip",
            "epochs": 18,
            "batch_size": 16,
            "lr": 6e-3,
            "loss": "ce+dice",
            "channels_last": True,
        },
        losses=("ce", "dice", "iou"),
        unused=("follow_links", "group", "mixup", "cutmix", "confusion"),
    ),
}


def _losses() -> str:
    return "; ".join(f"{name}: {', '.join(preset.losses)}" for name, preset in TASKS.items())


@dataclass(frozen=True)
class Run:
    """One training run. With no arguments: a small network on the embedded digits."""

    task: str = option("classify", "what is learned; it sets the defaults of other options", tuple(TASKS))
    data: str = option("digits", "folder, CSV/Parquet manifest, .h5 file, tar shards, or the name of an embedded set")
    model: str = option(
        "small",
        "small, a torchvision model, timm:NAME, or path/to/file.py:factory, a function of the number of classes; for videos tsn: or motion: before it",
    )
    follow_links: bool = option(
        False, "read pictures outside the data's folder that links, or a manifest's lines, lead to"
    )
    weights: str = option("none", "none, default, a torchvision weights name, or a checkpoint file")
    freeze: str = option("", "backbone, or comma-separated prefixes of parameters that stay as they are")
    size: int = option(0, "side of the square images; 0: that of the weights or of pictures in memory, else 224")
    augment: str = option("shift", "what a training image goes through", AUGMENTS)
    val: float = option(0.15, "share of the data for validation where the data has no such split", most=0.5)
    epochs: int = option(30, "passes over the training set", least=1)
    batch_size: int = option(64, "samples a step on all devices together", least=1)
    accumulate: int = option(1, "micro batches a step is made of", least=1)
    optimizer: str = option("adamw", "which optimizer", OPTIMIZERS)
    lr: float = option(3e-3, "learning rate at its peak", least=TINY)
    momentum: float = option(0.9, "momentum of sgd", most=BELOW)
    weight_decay: float = option(0.01, "decay of weights; biases and norms are never decayed")
    backbone_lr: float = option(1.0, "the backbone's learning rate as a share of the head's")
    layer_decay: float = option(1.0, "each block's learning rate as a share of the block above it", least=TINY, most=1)
    schedule: str = option("cosine", "how the learning rate falls", SCHEDULES)
    warmup: float = option(1.0, "epochs over which the learning rate rises, a fifth of all at most")
    milestones: str = option("", "epochs at which step and multistep fall, such as 30,60")
    gamma: float = option(0.1, "the factor by which step, multistep and plateau fall", least=TINY)
    loss: str = option("ce", "what is made small, one or a sum such as ce+dice: " + _losses())
    group: int = option(0, "pictures of each identity in a batch, or frames of each clip; 0 takes the task's")
    label_smoothing: float = option(0.0, "share of the target spread over the other classes", most=BELOW)
    mixup: float = option(0.0, "alpha of mixup; 0 is off")
    cutmix: float = option(0.0, "alpha of CutMix; 0 is off")
    confusion: int = option(0, "blocks a side that region confusion shuffles; 0 is off")
    l1: float = option(0.0, "weight of the L1 penalty")
    clip: float = option(0.0, "largest norm of the gradient; 0 is off")
    ema: float = option(0.0, "decay of the averaged weights; 0 is off", most=BELOW)
    precision: str = option("fp32", "number format of the forward pass", PRECISIONS)
    channels_last: bool = option(False, "store images with their channels last")
    compile: str = option(
        "auto",
        "model: torch.compile; graph: replay the step as one CUDA graph; both; auto: graph for small on a GPU",
        COMPILES,
    )
    shard: bool = option(False, "split the weights over the processes (FSDP2) instead of copying them to each")
    deterministic: bool = option(False, "the same bits again on a GPU, at a price in speed")
    seed: int = option(0, "where every random number comes from", most=2**63 - 1)
    device: str = option("auto", "auto, cpu, cuda or cuda:N")
    workers: int = option(-1, "processes that load data; -1 chooses", least=-1)
    save_every: int = option(0, "steps between checkpoints; 0 saves at each epoch's end")
    keep: int = option(2, "how many of the latest checkpoints stay", least=1)
    log: str = option("", "comma-separated loggers beside JSONL: " + ", ".join(LOGGERS))
    watch: bool = option(True, "look for silent traps while training")


def defaults(task: str) -> Run:
    """The run of a task with no other option."""
    if task not in TASKS:
        raise Refused(f"--task {task!r} is not one of {', '.join(TASKS)}")
    return replace(Run(task=task), **TASKS[task].defaults)


def refuse(run: Run, *, begun: bool = False) -> Iterator[str]:
    """Why this run cannot work, one sentence each, before any data is read; one that has begun may go on with idle options."""
    yield from _ranges(run)
    yield from _losses_of(run)
    yield from () if begun else _idle(run)
    if run.mixup and run.cutmix:
        yield "--mixup and --cutmix both mix whole batches: choose one"
    if run.schedule == "plateau" and run.val <= 0:
        yield "--schedule plateau follows the validation score: give --val above 0"
    if run.schedule in ("step", "multistep") and not run.milestones:
        yield f"--schedule {run.schedule} falls at given epochs: give --milestones, such as 30,60"
    if run.freeze and run.weights == "none":
        yield f"--freeze {run.freeze} keeps random weights as they are: give --weights too"
    if run.compile in ("graph", "both") and (run.mixup or run.cutmix or run.confusion or run.task != "classify"):
        yield f"--compile {run.compile} replays one step as it was: mixing, region confusion and other tasks decide anew in each"
    if run.shard:
        yield from _sharded(run)
    if run.accumulate > 0 and run.batch_size % run.accumulate:
        yield f"--batch-size {run.batch_size} cannot be split into {run.accumulate} equal micro batches"


def _sharded(run: Run) -> Iterator[str]:
    whole = "--shard leaves a part of each weight in each process"
    if run.ema:
        yield f"{whole}: --ema averages whole ones at every step; leave one of them out"
    if run.l1:
        yield f"{whole}: --l1 adds up whole ones in the loss; leave one of them out"
    if run.precision == "fp16":
        yield f"{whole}: the scaling of fp16 needs the gradients of all; use --precision bf16"
    if run.compile in ("model", "graph", "both"):
        yield f"{whole} and gathers them between the layers: --compile {run.compile} wants the whole step; leave one out"


def _ranges(run: Run) -> Iterator[str]:
    for one in fields(Run):
        value, choices = getattr(run, one.name), one.metadata["choices"]
        if choices and value not in choices:
            yield f"--{one.name.replace('_', '-')} {value!r} is not one of {', '.join(choices)}"
        elif isinstance(value, int | float) and not _within(value, one.metadata):
            yield f"--{one.name.replace('_', '-')} {_range(one.metadata)}; got {value}"
    if not run.data:
        yield "--data is empty: give a folder, a manifest, or the name of an embedded set"
    if unknown := [name for name in run.log.split(",") if name and name not in LOGGERS]:
        yield f"--log knows {', '.join(LOGGERS)}; got {', '.join(unknown)}"


def _within(value: float, limits: Mapping[str, Any]) -> bool:
    return limits["least"] <= value <= limits["most"] and value < math.inf


def _range(limits: Mapping[str, Any]) -> str:
    """What a number must be, in words."""
    least, most = limits["least"], limits["most"]
    low = "above 0" if least == TINY else f"at least {least}"
    return (
        f"must be {low}"
        if most == math.inf
        else f"must be {low} and {'below 1' if most == BELOW else f'at most {most}'}"
    )


def _losses_of(run: Run) -> Iterator[str]:
    preset = TASKS.get(run.task)
    if preset and (unknown := [name for name in run.loss.split("+") if name not in preset.losses]):
        yield f"--loss of --task {run.task} is made of {', '.join(preset.losses)}; got {unknown[0]!r}"


def _idle(run: Run) -> Iterator[str]:
    """Options that were set and that nothing would heed."""
    preset, plain = TASKS.get(run.task), Run()
    if preset is None:
        return
    idle = dict.fromkeys(preset.unused, f"--task {run.task}")
    for name, (by, heeded) in HEEDED.items():
        if (chosen := getattr(run, by)) not in heeded:
            idle[name] = f"--{by} {chosen}"
    for name, chosen in idle.items():
        if getattr(run, name) not in (getattr(plain, name), preset.defaults.get(name)):
            yield f"--{name.replace('_', '-')} does nothing for {chosen}: leave it out"


def milestones(run: Run) -> list[float]:
    """The epochs at which the rate falls."""
    try:
        marks = [float(mark) for mark in run.milestones.split(",") if mark]
    except ValueError:
        marks = [-1.0]
    if marks != sorted(marks) or min(marks, default=0) < 0:
        raise Refused(f"--milestones takes epochs in their order, such as 30,60; got {run.milestones}")
    return marks


def checked(run: Run, *, begun: bool = False) -> Run:
    """The run itself, or Refused with every reason."""
    if reasons := list(refuse(run, begun=begun)):
        raise Refused("; ".join(reasons))
    return run


def changes(run: Run) -> dict[str, Any]:
    """The fields that differ from the defaults: the line in the report."""
    default = asdict(defaults(run.task)) | {"task": Run().task}
    return {name: value for name, value in asdict(run).items() if value != default[name]}
