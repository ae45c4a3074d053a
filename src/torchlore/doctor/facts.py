"""What is on this machine, as plain data. Nothing here judges, and everything works without torch and without a GPU."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

PROBE = """
import json, sys, warnings
warnings.simplefilter("ignore")
import torch
out = {"version": str(torch.__version__), "cuda": torch.version.cuda, "hip": torch.version.hip,
       "available": torch.cuda.is_available(), "devices": torch.cuda.device_count(),
       "cudnn": torch.backends.cudnn.version(), "sharing": torch.multiprocessing.get_sharing_strategy(),
       "threads": torch.get_num_threads(), "error": ""}
try:
    import torchvision
    from torchvision.ops import nms
    nms(torch.zeros(1, 4), torch.zeros(1), 0.5)
except ModuleNotFoundError as error:
    out["vision"] = "" if error.name == "torchvision" else str(error)
except Exception as error:
    out["vision"] = f"{type(error).__name__}: {error}"
print(json.dumps(out))
"""


@dataclass(frozen=True)
class Gpu:
    """One card, as nvidia-smi tells it."""

    index: int
    name: str
    driver: str
    used_mib: int
    total_mib: int


@dataclass(frozen=True)
class Holder:
    """A process that holds GPU memory."""

    pid: int
    used_mib: int
    name: str
    parent: int | None  # None: no such process can be seen from here


@dataclass(frozen=True)
class Torch:
    """What the installed torch says of itself, asked in a process of its own."""

    version: str
    cuda: str | None
    hip: str | None
    available: bool
    devices: int
    cudnn: int | None
    sharing: str
    threads: int
    error: str = ""
    vision: str | None = None  # None: torchvision's operators load; "": not installed; else why they do not


@dataclass(frozen=True)
class Machine:
    """Everything the rules look at."""

    python: str
    system: str
    cpus: int  # as os.cpu_count() counts them
    quota: float  # CPUs this process may really use: affinity and cgroup quota
    shm_bytes: int | None  # free space of /dev/shm; None where there is none
    open_files: int | None  # the soft limit
    gpus: tuple[Gpu, ...] = ()
    holders: tuple[Holder, ...] = ()
    torch: Torch | None = None
    packages: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


NAMED = (
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "CUDA_LAUNCH_BLOCKING",
    "LD_LIBRARY_PATH",
)
PACKAGES = ("torch", "torchvision", "torchaudio", "numpy", "pillow", "triton", "timm", "lightning", "accelerate")


def look() -> Machine:
    """Look at the machine; takes as long as one `import torch`."""
    return Machine(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()}",
        cpus=os.cpu_count() or 1,
        quota=cpu_quota(),
        shm_bytes=free_shm(),
        open_files=open_file_limit(),
        gpus=gpus(),
        holders=holders(),
        torch=ask_torch(),
        packages={name: version for name in PACKAGES if (version := installed(name))},
        environment={name: os.environ[name] for name in NAMED if name in os.environ},
    )


def installed(package: str) -> str:
    """The version of an installed package, or ""."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def cpu_quota(root: Path = Path("/sys/fs/cgroup")) -> float:
    """CPUs this process may use: the smaller of its affinity and its cgroup's quota (v2, then v1)."""
    allowed = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    quota = _words(root / "cpu.max")
    if len(quota) == 2 and quota[0] != "max":
        return min(allowed, int(quota[0]) / int(quota[1]))
    old, period = _words(root / "cpu/cpu.cfs_quota_us"), _words(root / "cpu/cpu.cfs_period_us")
    if old and period and int(old[0]) > 0:
        return min(allowed, int(old[0]) / int(period[0]))
    return allowed


def _words(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


def free_shm(path: str = "/dev/shm") -> int | None:
    """Free bytes of shared memory, where DataLoader workers leave their batches."""
    return shutil.disk_usage(path).free if Path(path).is_dir() else None


def open_file_limit() -> int | None:
    """How many files this process may hold open."""
    if sys.platform == "win32":
        return None
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def gpus() -> tuple[Gpu, ...]:
    """The cards, from nvidia-smi; () without it."""
    rows = smi("--query-gpu=index,name,driver_version,memory.used,memory.total")
    return tuple(Gpu(int(i), name, driver, _mib(used), _mib(total)) for i, name, driver, used, total in rows)


def holders() -> tuple[Holder, ...]:
    """The processes that hold GPU memory, from nvidia-smi."""
    rows = smi("--query-compute-apps=pid,used_memory,process_name")
    return tuple(Holder(int(pid), _mib(used), name, parent(int(pid))) for pid, used, name in rows)


def _mib(text: str) -> int:
    return int(text) if text.isdigit() else 0  # nvidia-smi writes [N/A] inside some virtual machines


def parent(pid: int) -> int | None:
    """The parent of a process; 1 means that whoever started it is gone."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return int(stat.read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def smi(query: str) -> list[list[str]]:
    """Rows of one nvidia-smi query; [] where there is no driver to ask."""
    if shutil.which("nvidia-smi") is None:
        return []
    command = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return []
    if done.returncode != 0:
        return []
    return [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines() if line.strip()]


def ask_torch() -> Torch | None:
    """What torch says, from a process of its own so that a broken installation cannot take us along; None without torch."""
    import json

    if not installed("torch"):
        return None
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=180, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return Torch(
            installed("torch"), None, None, available=False, devices=0, cudnn=None, sharing="", threads=0, error=reason
        )
    return Torch(**json.loads(done.stdout.splitlines()[-1]))
