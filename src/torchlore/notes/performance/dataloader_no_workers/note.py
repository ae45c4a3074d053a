"""A DataLoader without workers loads each batch while the GPU waits.

`num_workers` is 0 unless you set it: reading, decoding and augmenting then happen in the training process, between two
steps. With workers the next batches are ready when they are asked for. More is not always better: starting a worker
costs a tenth of a second and more, so on tiny data 0 is faster, and beyond the number of cores they only get in each
other's way (torch warns).

Measure: `for _ in loader: pass` with 0, 2, 4, 8 workers, and take the smallest number that no longer makes the step
wait. `persistent_workers=True` saves the start in each epoch. A bus error or "No space left" with workers is a small
`/dev/shm`: make it larger (`--shm-size`), and do not fall back to 0.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import classes, tree, values
from torchlore.check.source import Hit, Source

ROWS = ("perf-num-workers",)
SOURCES = ("003:669",)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)
SEVERITY = "hint"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import time

    import torch
    from torch.utils.data import DataLoader

    from torchlore.recipes.data import cpus, loader_options

    assert bad["samples"] == good["samples"]
    assert good["seconds"] < bad["seconds"]

    def seconds(workers: int) -> float:
        start = time.perf_counter()
        for _ in DataLoader(torch.ones(8, 2), num_workers=workers):  # type: ignore[arg-type]  # a tensor is a data set
            pass
        return time.perf_counter() - start

    assert 0 < loader_options()["num_workers"] <= cpus()  # a start to measure from
    assert seconds(0) < seconds(2)  # tiny data: starting the workers costs more than they save


_READS = {"PIL.Image.open", "open", "numpy.load", "torch.load", "cv2.imread", "h5py.File", "torchvision.io.read_image",
          "torchvision.io.decode_image", "imageio.imread", "skimage.io.imread", "torchaudio.load", "pandas.read_csv",
          "librosa.load", "soundfile.read", "nibabel.load", "tifffile.imread", "pydicom.dcmread", "json.load"}  # fmt: skip
_FOLDERS = {f"torchvision.datasets.{name}" for name in ("ImageFolder", "DatasetFolder", "ImageNet", "CocoDetection",
            "VOCSegmentation", "VOCDetection", "Cityscapes", "CelebA", "Places365", "INaturalist")}  # fmt: skip

WORDS = ("DataLoader",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.utils.data.DataLoader"):
        workers = tree.argument(call, 5, "num_workers")
        if not (tree.lacks(call, 5, "num_workers") or tree.literal(workers) == 0):
            continue
        data = tree.argument(call, 0, "dataset")
        if data is not None and _reads_files(source, data):
            message = (
                f"`{source.code(data)}` reads files, and without workers it does so while the model waits: "
                "add `num_workers=4` and measure"
            )
            yield source.hit(call, message)


def _reads_files(source: Source, data: ast.expr) -> bool:
    found = values.values(source, data)
    return bool(found) and all(value.name in _FOLDERS or _opens(source, value) for value in found)


def _opens(source: Source, value: values.Value) -> bool:
    """Whether `__getitem__` of this data set, or a method it calls, opens a file."""
    cls = classes.class_behind(source, value) if value.kind == "dataset" else None
    if cls is None:
        return False
    methods = classes.methods(cls)
    seen, todo = set(), ["__getitem__"]
    while todo:
        name = todo.pop()
        if name in seen or name not in methods:
            continue
        seen.add(name)
        for node in ast.walk(methods[name]):
            if isinstance(node, ast.Call):
                if cls.source.name(node.func) in _READS:
                    return True
                if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                    todo.append(node.func.attr)
    return False
