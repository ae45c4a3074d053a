"""Training against a hand-written loop on this machine, interleaved, and pictures a second on one core.

Everything runs in one thread and is timed by the processor time of that thread, because other programs share the
machine. A step's figure is the 10th percentile.
"""

import itertools
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from torchlore.recipes.data import PackedStrings
from torchlore.train.augment import draw
from torchlore.train.batches import batches
from torchlore.train.files import Files, FolderReader
from torchlore.train.loop import steps
from torchlore.train.run import Run
from torchlore.train.samples import Data, Stored
from torchlore.train.setup import ready

STEPS, ROUNDS, BATCH = 25, 6, 64


def write_models(folder: Path) -> Path:
    """A user's own file with the two models."""
    path = folder / "models.py"
    path.write_text(
        "from torch import nn\n"
        "def mlp(classes): return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, classes))\n"
        "def block(i, o): return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))\n"
        "def cnn(classes): return nn.Sequential(block(3, 16), block(16, 32), block(32, 64), nn.Flatten(), nn.Linear(1024, classes))\n"
    )
    return path


def raw(model: nn.Module, pictures: torch.Tensor, labels: torch.Tensor) -> Iterator[None]:
    """What everybody writes."""
    loader = DataLoader(TensorDataset(pictures, labels), batch_size=BATCH, shuffle=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()
    model.train()
    while True:
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
            yield


def ours(model: str, pictures: torch.Tensor, labels: torch.Tensor) -> Iterator[object]:
    """The same through the loop of `lore train`: uint8 pictures, normalised in the step."""
    part = Stored((pictures * 255).byte(), labels, [""] * len(labels))
    data = Data("bench", tuple(map(str, range(10))), part, part, part, pictures.shape[1], pictures.shape[-1])
    run = Run(model=model, optimizer="sgd", lr=0.01, weight_decay=1e-4, augment="none", batch_size=BATCH, watch=False)
    made = ready(run, data)
    return steps(made.parts, batches(data.train, made.plan, 0, 10**9), made.device, 0)


def times(loop: Iterator[object]) -> list[float]:
    """Processor seconds of each of the next steps."""
    marks = [time.thread_time()]
    marks += [time.thread_time() for _ in itertools.islice(loop, STEPS)]
    return [after - before for before, after in itertools.pairwise(marks)]


def p10(values: list[float]) -> float:
    return statistics.quantiles(values, n=10)[0]


def step_ratio(name: str, file: Path, shape: tuple[int, ...]) -> None:
    pictures, labels = torch.rand(2048, *shape), torch.randint(10, (2048,))
    space: dict[str, object] = {}
    exec(file.read_text(), space)  # the same factory for both
    loops = {"raw": raw(space[name](10), pictures, labels), "ours": ours(f"{file}:{name}", pictures, labels)}
    taken: dict[str, list[float]] = {which: [] for which in loops}
    for _ in range(ROUNDS):
        for which, loop in loops.items():
            taken[which] += times(loop)
    before, after = (p10(taken[which]) for which in ("raw", "ours"))
    print(f"step of a {name:4} raw {before * 1e6:8.0f} us   ours {after * 1e6:8.0f} us   ratio {after / before:.2f}")


def jpegs(folder: Path, count: int = 64) -> list[str]:
    """Pictures of 224 pixels that compress as photographs do: smooth colours with some noise."""
    generator = np.random.default_rng(0)
    for number in range(count):
        coarse = Image.fromarray(generator.integers(0, 255, (14, 14, 3), dtype=np.uint8)).resize((224, 224), 3)
        noisy = np.asarray(coarse, np.int16) + generator.normal(0, 6, (224, 224, 3)).astype(np.int16)
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(folder / f"{number}.jpg", quality=85)
    return [f"{number}.jpg" for number in range(count)]


def pictures_a_second(folder: Path) -> None:
    from torchvision.transforms import v2

    names = jpegs(folder)
    files = Files(
        PackedStrings(names), torch.zeros(len(names), dtype=torch.long), 224, "crop", FolderReader(str(folder))
    )
    usual = v2.Compose(
        [
            v2.RandomResizedCrop(224, antialias=True),
            v2.RandomHorizontalFlip(),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize((0.5,) * 3, (0.5,) * 3),
        ]
    )
    draws = draw(len(names), 0, 0, 0)
    taken: dict[str, list[float]] = {"PIL and v2": [], "ours": []}
    for _ in range(8):
        begun = time.thread_time()
        torch.stack([usual(Image.open(folder / name).convert("RGB")) for name in names])
        middle = time.thread_time()
        files.read(range(len(names)), draws)
        taken["PIL and v2"].append(middle - begun)
        taken["ours"].append(time.thread_time() - middle)
    size = sum((folder / name).stat().st_size for name in names) / len(names) / 1000
    for which, seconds in taken.items():
        print(f"{which:12} {len(names) / min(seconds):6.0f} pictures a second from {size:.0f} kB JPEG files, one core")


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = write_models(folder)
        step_ratio("mlp", file, (1, 8, 8))
        step_ratio("cnn", file, (3, 32, 32))
        pictures_a_second(folder)


if __name__ == "__main__":
    main()
