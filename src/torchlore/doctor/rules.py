"""What follows from the facts: one small function a trouble, each a finding with its fix."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from torchlore.doctor.facts import Machine, Torch
from torchlore.finding import Finding, Severity

MIB = 1 << 20
LEAST_DRIVER = {"11": 450, "12": 525, "13": 580}  # CUDA's release notes: the oldest driver for a major version
PAIRS = {"2.11": "0.26", "2.12": "0.27", "2.13": "0.28", "2.14": "0.29", "2.15": "0.29"}  # torch: its torchvision


def findings(machine: Machine, workers: int = 4, batch_mib: float = 64.0, prefetch: int = 2) -> Iterator[Finding]:
    """Every trouble seen, for a loader with this many workers and batches of this size."""
    for rule in (_torch_absent, _torch_broken, _no_gpu_seen, _driver_too_old, _vision_pair, _vision_operators):
        yield from rule(machine)
    yield from _shared_memory(machine, workers, batch_mib, prefetch)
    yield from _open_files(machine, workers, prefetch)
    yield from _too_many_workers(machine, workers)
    for rule in (_threads, _visible_devices, _determinism, _orphans, _busy_gpus):
        yield from rule(machine)


def _found(slug: str, message: str, severity: Severity = Severity.WARNING, evidence: str = "") -> Finding:
    return Finding(slug, message, severity, evidence=evidence)


def _torch_absent(machine: Machine) -> Iterator[Finding]:
    if machine.torch is None:
        yield _found(
            "torch-not-installed",
            "torch is not installed for this Python: `pip install torch torchvision`",
            Severity.ERROR,
        )


def _torch_broken(machine: Machine) -> Iterator[Finding]:
    if machine.torch and machine.torch.error:
        message = f"torch {machine.torch.version} does not import ({machine.torch.error}): install it again into a fresh environment"
        yield _found("torch-does-not-import", message, Severity.ERROR)


def _no_gpu_seen(machine: Machine) -> Iterator[Finding]:
    torch = machine.torch
    if not machine.gpus or torch is None or torch.error or torch.available:
        return
    if torch.cuda is None and torch.hip is None:
        message = f"this machine has a {machine.gpus[0].name} but torch {torch.version} is a CPU build: install the CUDA build"
        yield _found("cpu-build-on-gpu-machine", message, Severity.ERROR)
    elif machine.environment.get("CUDA_VISIBLE_DEVICES") is None:
        message = f"torch {torch.version} (CUDA {torch.cuda}) sees no GPU although nvidia-smi shows {machine.gpus[0].name}: check the driver"
        yield _found("gpu-not-usable", message, Severity.ERROR)


def _driver_too_old(machine: Machine) -> Iterator[Finding]:
    if not machine.gpus or machine.torch is None or not machine.torch.cuda:
        return
    least = LEAST_DRIVER.get(machine.torch.cuda.split(".")[0], 0)
    driver = machine.gpus[0].driver
    if driver.split(".")[0].isdigit() and int(driver.split(".")[0]) < least:
        message = f"driver {driver} is too old for CUDA {machine.torch.cuda}: update it to {least} or later, or install a torch for an older CUDA"
        yield _found("driver-too-old", message, Severity.ERROR)


def _minor(version: str) -> str:
    return ".".join(version.split("+", maxsplit=1)[0].split(".")[:2])


def _vision_pair(machine: Machine) -> Iterator[Finding]:
    torch, vision = machine.packages.get("torch", ""), machine.packages.get("torchvision", "")
    wanted = PAIRS.get(_minor(torch))
    if vision and wanted and _minor(vision) != wanted:
        message = f"torchvision {vision} was not built for torch {torch}: install torchvision {wanted}.*"
        yield _found("torchvision-mismatch", message)


def _vision_operators(machine: Machine) -> Iterator[Finding]:
    if machine.torch and not machine.torch.error and machine.torch.vision:
        message = f"torchvision's operators do not load ({machine.torch.vision}): install torch and torchvision together, both for CUDA or both for the CPU"
        yield _found("torchvision-operators-missing", message, Severity.ERROR)


def _shared_memory(machine: Machine, workers: int, batch_mib: float, prefetch: int) -> Iterator[Finding]:
    if machine.shm_bytes is None or workers == 0:
        return
    need = (workers * prefetch + 2) * batch_mib  # measured: workers * prefetch batches wait, one or two are in hand
    free = machine.shm_bytes / MIB
    if free < need:
        fits = max(0, math.floor((free / batch_mib - 2) / prefetch))
        message = (
            f"/dev/shm has {free:.0f} MiB free, but {workers} workers with batches of {batch_mib:g} MiB keep {need:.0f} MiB there: "
            f"start the container with --shm-size={math.ceil(need / 1024) + 1}g or --ipc=host, or use num_workers={fits}"
        )
        yield _found("shared-memory-too-small", message, Severity.ERROR, f"{free:.0f} MiB free, {need:.0f} needed")


def _open_files(machine: Machine, workers: int, prefetch: int) -> Iterator[Finding]:
    if machine.open_files is None or machine.torch is None or machine.torch.sharing != "file_descriptor":
        return
    need = 256 + workers * prefetch * 32  # one descriptor a tensor in flight; a batch of many tensors holds many
    if machine.open_files < need:
        message = f"at most {machine.open_files} files may be open, and each tensor a worker sends holds one: `ulimit -n 65536`, or torch.multiprocessing.set_sharing_strategy('file_system')"
        yield _found("open-files-too-few", message)


def _too_many_workers(machine: Machine, workers: int) -> Iterator[Finding]:
    if workers > math.ceil(machine.quota):
        message = f"{workers} loader workers for {machine.quota:g} usable CPUs slow each other down: use num_workers={max(1, math.floor(machine.quota))}"
        yield _found("more-workers-than-cpus", message, Severity.HINT)


def _threads(machine: Machine) -> Iterator[Finding]:
    if machine.torch and machine.torch.threads > math.ceil(machine.quota):
        message = f"torch would use {machine.torch.threads} threads on {machine.quota:g} usable CPUs: set OMP_NUM_THREADS={max(1, math.floor(machine.quota))}"
        yield _found("more-threads-than-cpus", message)


def _visible_devices(machine: Machine) -> Iterator[Finding]:
    value = machine.environment.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return
    if value.strip() in ("", "-1") and machine.gpus:
        yield _found(
            "visible-devices-hide-all", f"CUDA_VISIBLE_DEVICES={value!r} hides every GPU: unset it to use them"
        )
        return
    names = [name.strip() for name in value.split(",")]
    bad = [name for name in names if name != "-1" and not re.fullmatch(r"\d+|(GPU|MIG)-[\w/-]+", name)]
    beyond = [name for name in names if name.isdigit() and machine.gpus and int(name) >= len(machine.gpus)]
    twice = sorted({name for name in names if names.count(name) > 1})
    for trouble, what in (
        (bad, "is no device"),
        (beyond, f"does not exist (there are {len(machine.gpus)})"),
        (twice, "is named twice"),
    ):
        if trouble:
            message = f"CUDA_VISIBLE_DEVICES={value!r}: {', '.join(trouble)} {what}, and CUDA ignores every device from there on; write numbers such as 0,1"
            yield _found("visible-devices-mistake", message, Severity.ERROR)
            return


def _determinism(machine: Machine) -> Iterator[Finding]:
    env = machine.environment
    if "CUBLAS_WORKSPACE_CONFIG" in env and env["CUBLAS_WORKSPACE_CONFIG"] not in (":4096:8", ":16:8"):
        message = f"CUBLAS_WORKSPACE_CONFIG={env['CUBLAS_WORKSPACE_CONFIG']!r} does not make cuBLAS repeatable: use :4096:8 or :16:8"
        yield _found("cublas-workspace-mistake", message)
    if "CUBLAS_WORKSPACE_CONFIG" in env and env.get("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE") == "1":
        message = "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1 rounds matrix products to TF32 while CUBLAS_WORKSPACE_CONFIG asks for repeatable ones: repeatable, but not the same as on another card; unset one"
        yield _found("tf32-with-determinism", message, Severity.HINT)
    if env.get("CUDA_LAUNCH_BLOCKING") == "1":
        yield _found(
            "launch-blocking-left-on", "CUDA_LAUNCH_BLOCKING=1 makes every kernel wait: unset it once the bug is found"
        )


def _orphans(machine: Machine) -> Iterator[Finding]:
    for holder in machine.holders:
        if holder.parent == 1:
            message = f"process {holder.pid} ({holder.name}) holds {holder.used_mib} MiB of GPU memory and its parent is gone: `kill {holder.pid}`, and `kill -9` only if that does not help"
            yield _found("orphan-holds-gpu", message)


def _busy_gpus(machine: Machine) -> Iterator[Finding]:
    for gpu in machine.gpus:
        if gpu.total_mib and gpu.used_mib > 0.5 * gpu.total_mib:
            message = f"GPU {gpu.index} ({gpu.name}) has {gpu.used_mib} of {gpu.total_mib} MiB in use before you start: choose another with CUDA_VISIBLE_DEVICES, or see who holds it with nvidia-smi"
            yield _found("gpu-already-full", message)


def describe(torch: Torch) -> str:
    """The torch line of the report."""
    cuda = f"CUDA {torch.cuda}" if torch.cuda else "CPU build"
    seen = f"{torch.devices} usable" if torch.available else "no GPU usable"
    return f"{torch.version} ({cuda}, cuDNN {torch.cudnn or 'none'}, {seen})"
