"""The doctor, on machines that are made up and on this one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from torchlore.cli import main
from torchlore.doctor import Machine, findings
from torchlore.doctor.facts import Gpu, Holder, Torch, cpu_quota

GIB = 1 << 30
TORCH = Torch(
    "2.15.0+cu132", "13.2", None, available=True, devices=1, cudnn=92600, sharing="file_descriptor", threads=4
)
WELL = Machine(
    "3.11.7", "Linux", cpus=8, quota=8, shm_bytes=16 * GIB, open_files=65536,
    gpus=(Gpu(0, "NVIDIA H200", "580.1", 100, 143771),), torch=TORCH, packages={"torch": "2.15.0", "torchvision": "0.29.2"},
)  # fmt: skip


def slugs(machine: Machine, **how: float) -> set[str]:
    return {one.slug for one in findings(machine, **how)}


def test_a_healthy_machine_has_no_findings() -> None:
    assert slugs(WELL) == set()


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        ({"torch": None}, "torch-not-installed"),
        ({"torch": replace(TORCH, error="ImportError: libcudart.so")}, "torch-does-not-import"),
        ({"torch": replace(TORCH, cuda=None, available=False)}, "cpu-build-on-gpu-machine"),
        ({"torch": replace(TORCH, available=False)}, "gpu-not-usable"),
        ({"gpus": (Gpu(0, "T4", "470.1", 0, 16000),)}, "driver-too-old"),
        ({"packages": {"torch": "2.15.0", "torchvision": "0.28.0"}}, "torchvision-mismatch"),
        (
            {"torch": replace(TORCH, vision="RuntimeError: operator torchvision::nms does not exist")},
            "torchvision-operators-missing",
        ),
        ({"shm_bytes": 64 << 20}, "shared-memory-too-small"),
        ({"open_files": 256}, "open-files-too-few"),
        ({"quota": 2.0, "torch": replace(TORCH, threads=2)}, "more-workers-than-cpus"),
        ({"torch": replace(TORCH, threads=64)}, "more-threads-than-cpus"),
        ({"environment": {"CUDA_VISIBLE_DEVICES": ""}}, "visible-devices-hide-all"),
        ({"environment": {"CUDA_VISIBLE_DEVICES": "cuda:0"}}, "visible-devices-mistake"),
        ({"environment": {"CUDA_VISIBLE_DEVICES": "0,3"}}, "visible-devices-mistake"),
        ({"environment": {"CUDA_VISIBLE_DEVICES": "0,0"}}, "visible-devices-mistake"),
        ({"environment": {"CUBLAS_WORKSPACE_CONFIG": "4096:8"}}, "cublas-workspace-mistake"),
        ({"environment": {"CUDA_LAUNCH_BLOCKING": "1"}}, "launch-blocking-left-on"),
        ({"holders": (Holder(4242, 9000, "python", 1),)}, "orphan-holds-gpu"),
        ({"gpus": (Gpu(0, "NVIDIA H200", "580.1", 100000, 143771),)}, "gpu-already-full"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_trouble_is_named_and_nothing_else(change: dict[str, object], slug: str) -> None:
    assert slugs(replace(WELL, **change)) == {slug}  # type: ignore[arg-type]


def test_the_shared_memory_need_follows_the_loader() -> None:
    tight = replace(WELL, shm_bytes=GIB)
    assert slugs(tight, workers=4, batch_mib=64, prefetch=2) == set()  # 10 batches of 64 MiB
    assert slugs(tight, workers=8, batch_mib=64, prefetch=2) == {"shared-memory-too-small"}
    assert slugs(tight, workers=0, batch_mib=5000) == set()


def test_the_cpu_quota_is_read_from_the_cgroup(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("50000 100000\n")
    assert cpu_quota(tmp_path) == 0.5
    (tmp_path / "cpu.max").write_text("max 100000\n")
    assert cpu_quota(tmp_path) >= 1


def test_this_machine_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert status == int(any(one["severity"] == "error" for one in told["findings"]))
    assert told["machine"]["torch"]["version"]
    main(["doctor"])
    assert "usable" in capsys.readouterr().out
