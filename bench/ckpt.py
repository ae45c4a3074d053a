"""Checkpoints: our scanner beside picklescan, fickling and modelscan on one set; `show` on 4 GB; what each costs.

python bench/ckpt.py                       the table for docs/checkpoints.md
python bench/ckpt.py --modelscan PYTHON    with modelscan from another environment (it pins an older rich)
python bench/ckpt.py --big                 also `lore ckpt show` on a file of 4 GB (writes and removes it)
"""

from __future__ import annotations

import argparse
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
CANARY = Path("/tmp/torchlore-canary-that-must-never-exist")


def make_hostile(folder: Path) -> list[Path]:
    from ckpt_corpus import hostile

    folder.mkdir()
    for bad in hostile(CANARY):
        (folder / bad.name).write_bytes(bad.data)
    return sorted(folder.iterdir())


def make_benign(folder: Path) -> list[Path]:
    """State dicts, optimizers, whole models, TorchScript, arrays: what people really share."""
    import torch
    from safetensors.torch import save_file
    from torch import nn

    folder.mkdir()
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8, 4))
    optimizer = torch.optim.AdamW(net.parameters())
    state = {
        "epoch": 3,
        "model": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "acc": np.float64(0.5),
        "rng": torch.get_rng_state(),
    }
    torch.save(net.state_dict(), folder / "state_dict.pt")
    torch.save(state, folder / "training.pt")
    torch.save(state, folder / "training_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(state, folder / "training_protocol4.pt", pickle_protocol=4)
    torch.save(nn.DataParallel(net).state_dict(), folder / "dataparallel.pt")
    torch.save(torch.compile(net).state_dict(), folder / "compiled.pt")
    torch.save(net, folder / "whole.pt")
    torch.save(optimizer, folder / "optimizer_object.pt")
    torch.save(
        {"numpy": np.random.RandomState(0).get_state(), "path": folder, "namespace": argparse.Namespace(lr=0.1)},
        folder / "extras.pt",
    )
    torch.jit.script(net).save(str(folder / "script.pt"))
    save_file(net.state_dict(), folder / "model.safetensors")
    (folder / "tensors.pkl").write_bytes(pickle.dumps(net.state_dict()))
    (folder / "arrays.pkl").write_bytes(pickle.dumps({"a": np.arange(9.0), "b": ["x", 1, None]}))
    np.savez(folder / "arrays.npz", a=np.arange(9))
    _optional(folder, torch)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _optional(folder: Path, torch) -> None:
    import joblib
    import timm
    import torch.distributed.checkpoint as dcp
    from sklearn.linear_model import LogisticRegression

    model = timm.create_model("resnet18")
    torch.save(
        {"state_dict": model.state_dict(), "arch": "resnet18", "args": argparse.Namespace(model="resnet18")},
        folder / "timm.pt",
    )
    torch.save(model, folder / "timm_whole.pt")
    joblib.dump(LogisticRegression().fit(np.eye(4), [0, 1, 0, 1]), folder / "sklearn.joblib")
    dcp.save({"model": model.state_dict(), "epoch": 1}, checkpoint_id=folder / "dcp")


# one function a scanner: path -> "dangerous", "unknown", "clean" or "error" ---------------------------------------------


def ours(path: Path) -> str:
    from torchlore.ckpt.scan import scan_file

    report = scan_file(path)
    if report.error and report.verdict != "dangerous":
        return "error"
    return "clean" if report.verdict == "allowed" else str(report.verdict)


def picklescan(path: Path) -> str:
    from picklescan.scanner import SafetyLevel, scan_file_path

    try:
        result = scan_file_path(str(path))
    except Exception:  # noqa: BLE001 -- whatever it raises, its user sees no verdict
        return "error"
    if result.issues_count:
        return "dangerous"
    if any(item.safety == SafetyLevel.Suspicious for item in result.globals):
        return "unknown"
    return "error" if result.scan_err else "clean"


def fickling(path: Path) -> str:
    import fickling.analysis
    from fickling.fickle import StackedPickle
    from fickling.pytorch import PyTorchModelWrapper

    try:
        if path.read_bytes()[:2] == b"PK":
            pickles = [PyTorchModelWrapper(path).pickled]
        else:
            with path.open("rb") as file:
                pickles = list(StackedPickle.load(file))
        severities = [fickling.analysis.check_safety(one).severity.name for one in pickles]
    except Exception:  # noqa: BLE001 -- whatever it raises, its user sees no verdict
        return "error"
    if any(name in ("OVERTLY_MALICIOUS", "LIKELY_OVERTLY_MALICIOUS", "LIKELY_UNSAFE") for name in severities):
        return "dangerous"
    return "unknown" if any(name != "LIKELY_SAFE" for name in severities) else "clean"


_MODELSCAN = """
import json, sys
from modelscan.modelscan import ModelScan
out = {}
for path in sys.argv[1:]:
    try:
        result = ModelScan().scan(path)
        bad = [issue["severity"] for issue in result["issues"]]
        skipped, errors = result["summary"]["skipped"]["total_skipped"], result["errors"]
        if any(one in ("CRITICAL", "HIGH") for one in bad): out[path] = "dangerous"
        elif bad: out[path] = "unknown"
        elif errors or (skipped and not result["summary"]["scanned"]["total_scanned"]): out[path] = "error"
        else: out[path] = "clean"
    except Exception as error:
        out[path] = "error"
print("RESULT" + json.dumps(out))
"""


def modelscan(python: str, paths: list[Path]) -> dict[str, str]:
    done = subprocess.run([python, "-c", _MODELSCAN, *map(str, paths)], capture_output=True, text=True, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT")), None)
    if line is None:
        raise SystemExit(f"modelscan did not run: {done.stderr[-400:]}")
    return json.loads(line.removeprefix("RESULT"))


def compare(hostile: list[Path], benign: list[Path], python: str | None) -> None:
    results: dict[str, dict[str, str]] = {}
    seconds: dict[str, float] = {}
    for name, work in (("lore ckpt scan", ours), ("picklescan", picklescan), ("fickling", fickling)):
        start = time.perf_counter()
        results[name] = {str(path): work(path) for path in [*hostile, *benign]}
        seconds[name] = time.perf_counter() - start
    if python:
        start = time.perf_counter()
        results["modelscan"] = modelscan(python, [*hostile, *benign])
        seconds["modelscan"] = time.perf_counter() - start
    print(f"{len(hostile)} hostile files, {len(benign)} benign files\n")
    print(
        "| scanner | hostile: called dangerous | suspicious | error or skipped | **called clean** | benign: called dangerous | suspicious | error or skipped | clean | seconds |"
    )
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    for name, found in results.items():
        cells = [
            sum(found[str(path)] == kind for path in group)
            for group, kinds in (
                (hostile, ("dangerous", "unknown", "error", "clean")),
                (benign, ("dangerous", "unknown", "error", "clean")),
            )
            for kind in kinds
        ]
        print(f"| {name} | " + " | ".join(map(str, cells)) + f" | {seconds[name]:.1f} |")
    for name, found in results.items():
        missed = [path.name for path in hostile if found[str(path)] == "clean"]
        false = [path.name for path in benign if found[str(path)] == "dangerous"]
        print(
            f"\n{name}: hostile called clean: {', '.join(missed) or 'none'}; benign called dangerous: {', '.join(false) or 'none'}"
        )
    assert not CANARY.exists(), "something ran"


def big(folder: Path) -> None:
    """`lore ckpt show` on 4 GB: time and peak memory of a fresh process, the file once cold and once in the page cache."""
    from torchlore.ckpt.write import Out, write_torch

    block = np.random.default_rng(0).normal(size=1 << 20).astype("<f4").tobytes()

    def numbers():
        return (block for _ in range(4))

    state = {f"layers.{number}.weight": Out((2048, 2048), "float32", make=numbers) for number in range(240)}
    path = folder / "big.pt"
    write_torch({"epoch": 1, "model": state}, path)
    print(f"\nfile of {path.stat().st_size / 1e9:.2f} GB, {len(state)} tensors")
    for options in ([], ["--stats", "none"], ["--stats", "full"]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "torchlore", "ckpt", "show", str(path), *options],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(
            f"lore ckpt show {' '.join(options) or '(default)'}: {took:.2f} s, peak {max(after, before) / 1024:.0f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--modelscan", metavar="PYTHON")
    parser.add_argument("--big", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.big:
            big(folder)
            return
        compare(make_hostile(folder / "hostile"), make_benign(folder / "benign"), args.modelscan)


if __name__ == "__main__":
    main()
