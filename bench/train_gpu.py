"""Training on a GPU: real JPEG files into ResNet-50 against synthetic data, and the step of a small network.

    PYTHONPATH=src python bench/train_gpu.py [pictures a batch]
    PYTHONPATH=src python bench/train_gpu.py small            only the small network, with where its time goes

Every figure is printed as soon as it is measured; a part that fails says why and the next one goes on.
"""

import cProfile
import io
import itertools
import os
import pstats
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before CUDA starts, for the parts that compare bits
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.recipes._decode import _torchvision_decoder
from torchlore.recipes.seed import set_deterministic
from torchlore.train import fit as fitting
from torchlore.train.batches import Batch, batches
from torchlore.train.discover import open_data
from torchlore.train.files import Files
from torchlore.train.graph import Replay
from torchlore.train.jpegs import works
from torchlore.train.loop import _gradients, _update, steps
from torchlore.train.run import Run
from torchlore.train.samples import Data, Stored, digits
from torchlore.train.setup import Ready, ready

PICTURES, CLASSES = 4096, 8
BATCH = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 256
BEGAN = time.perf_counter()
SMALL = (
    "from torch import nn\n"
    "def block(i, o): return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))\n"
    "def cnn(classes): return nn.Sequential(block(3, 16), block(16, 32), block(32, 64), nn.Flatten(), nn.Linear(1024, classes))\n"
    "def wide(classes): return nn.Sequential(block(3, 32), block(32, 64), block(64, 128), nn.Flatten(), nn.Linear(2048, classes))\n"
)


def say(text: str) -> None:
    print(f"[{time.perf_counter() - BEGAN:5.0f} s] {text}", flush=True)


def photograph(number: int) -> bytes:
    """One of scikit-learn's two photographs, cut, mirrored and tinted by its number: 500 x 375 pixels."""
    spec = find_spec("sklearn")
    assert spec is not None
    assert spec.origin is not None
    name = ("china.jpg", "flower.jpg")[number % 2]
    draw = np.random.default_rng(number)
    with Image.open(Path(spec.origin).parent / "datasets" / "images" / name) as image:
        left, top = int(draw.integers(0, 60)), int(draw.integers(0, 40))
        part = (
            image.convert("RGB").crop((left, top, left + 560, top + 385)).resize((500, 375), Image.Resampling.BICUBIC)
        )
    pixels = np.asarray(part, np.float32)[:, :: 1 if number % 3 else -1] * draw.uniform(0.8, 1.1, 3)
    buffer = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def write_pictures(folder: Path) -> None:
    for label in range(CLASSES):
        (folder / f"class{label}").mkdir(parents=True)
    with ProcessPoolExecutor() as pool:
        for number, data in enumerate(pool.map(photograph, range(PICTURES), chunksize=64)):
            (folder / f"class{number % CLASSES}" / f"{number}.jpg").write_bytes(data)
    size = sum(path.stat().st_size for path in folder.rglob("*.jpg")) / PICTURES / 1000
    say(f"{PICTURES} JPEG files of 500 x 375 pixels, {size:.0f} kB each")


def rate(loop: Iterator[object], warm: int, count: int) -> float:
    """Steps a second, all work of the device included."""
    for _ in itertools.islice(loop, warm):
        pass
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in itertools.islice(loop, count):
        pass
    torch.cuda.synchronize()
    return count / (time.perf_counter() - begun)


def synthetic(made: Ready) -> Iterator[None]:
    """What everybody writes, over one batch that stays on the device."""
    pictures = torch.randn(BATCH, 3, 224, 224, device="cuda").contiguous(memory_format=torch.channels_last)
    labels = torch.randint(CLASSES, (BATCH,), device="cuda")
    model = made.parts.model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    while True:
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        yield


def pipeline(made: Ready, train: Files) -> Iterator[Batch]:
    """The batches of `lore train` without the step."""
    for batch in batches(train, made.plan, 0, 10**9, made.workers):
        made.prepare(batch.pictures)
        yield batch


def resnet(folder: Path) -> None:
    run = Run(
        data=str(folder),
        model="resnet50",
        augment="crop",
        val=0.0,
        optimizer="sgd",
        lr=0.01,
        batch_size=BATCH,
        precision="bf16",
        channels_last=True,
        compile="model",
        watch=False,
    )
    made = ready(run, open_data(run))
    assert isinstance(made.data.train, Files)
    chosen = f"{8 - made.data.train.here} of 8 by the GPU" if made.data.train.decodes else "all by the workers"
    say(f"data opened, {made.workers} workers, decoding: {chosen}")
    there = made.data.train.decoded_on(made.device)
    base = rate(synthetic(made), 15, 60) * BATCH
    say(f"ResNet-50, batch {BATCH}, bf16, channels_last, compiled, synthetic data: {base:7.0f} img/s")
    decoder = "simplejpeg" if find_spec("simplejpeg") else "torchvision" if _torchvision_decoder() else "PIL"
    fixed = replace(
        next(batches(made.data.train, made.plan, 0, 1)), pictures=torch.randint(256, (BATCH, 3, 224, 224)).byte().cuda()
    )
    ours = rate(steps(made.parts, itertools.repeat(fixed), made.device, 0), 10, 40) * BATCH
    say(
        f"the step of `lore train` on one batch that stays on the device: {ours:7.0f} img/s, {ours / base:.2f} of synthetic"
    )
    workers = f"{made.workers} workers with {decoder}"
    ways = {f"the GPU, {here} of 8 by {workers}": replace(there, here=here) for here in (0, 4)}
    if not works(made.device):
        ways = {}
        say("this torchvision does not decode on the GPU")
    for way, train in {**ways, workers: replace(made.data.train, decodes="")}.items():
        guarded(lambda way=way, train=train: fed(made, train, way, base))


def fed(made: Ready, train: Files, way: str, base: float) -> None:
    if not train.here:
        alone = rate(pipeline(made, train), 16, 48) * BATCH
        say(f"pipeline alone, decoded by {way}: {alone:7.0f} img/s")
    loop = steps(made.parts, batches(train, made.plan, 0, 10**9, made.workers), made.device, 0)
    both = rate(loop, 24, 80) * BATCH
    begun = time.thread_time()
    for _ in itertools.islice(loop, 10):
        pass
    host = (time.thread_time() - begun) * 100
    say(
        f"pipeline and step, decoded by {way}: {both:7.0f} img/s, {both / base:.2f} of synthetic (bar 0.80), host {host:.1f} ms"
    )


def decoders_agree(folder: Path) -> None:
    run = Run(data=str(folder), augment="crop", val=0.0, batch_size=64, size=224, watch=False, workers=0)
    made = ready(run, open_data(run))
    train = made.data.train
    assert isinstance(train, Files)
    if not works(made.device):
        return
    train = train.decoded_on(made.device)
    there = [next(batches(train, made.plan, 3, 4)).pictures for _ in range(2)]
    here = next(batches(replace(train, decodes=""), made.plan, 3, 4)).pictures.cuda()
    away = (there[0].int() - here.int()).abs().float()
    say(
        f"pictures decoded and cut by the GPU against the CPU's: mean difference {away.mean():.2f} of 255, "
        f"{(away > 8).float().mean():.2%} of the values by more than 8, twice the same bits: {torch.equal(*there)}"
    )


def stored(count: int = 8192) -> Data:
    generator = torch.Generator().manual_seed(0)
    pictures = torch.randint(0, 256, (count, 3, 32, 32), generator=generator).to(torch.uint8)
    labels = torch.randint(10, (count,), generator=generator)
    part = Stored(pictures, labels, [""] * count)
    return Data("random", tuple(map(str, range(10))), part, part, part, 3, 32)


def by_hand(file: Path, data: Data) -> Iterator[None]:
    space: dict[str, Callable[[int], nn.Module]] = {}
    exec(file.read_text(), space)
    model = space["cnn"](10).cuda()
    pictures, labels = data.train.read(range(8192), None).cuda().float() / 255, data.train.labels.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    while True:
        for at in torch.randperm(8192, device="cuda").split(128):
            optimizer.zero_grad()
            F.cross_entropy(model(pictures[at]), labels[at]).backward()
            optimizer.step()
            yield


def small(folder: Path) -> None:
    file, data = folder / "models.py", stored()
    file.write_text(SMALL)
    say(f"small CNN, 32 x 32, batch 128, by hand, eager: {1000 / rate(by_hand(file, data), 200, 1000):.3f} ms a step")
    for how in ("none", "graph"):
        guarded(lambda how=how: one_small(f"{file}:cnn", data, how))


def graph_by_hand(file: Path, net: str, data: Data, layout: torch.memory_format) -> Callable[[], None]:
    """The least that a step can cost: one graph over one batch, forward, backward and optimizer."""
    space: dict[str, Callable[[int], nn.Module]] = {}
    exec(file.read_text(), space)
    model = space[net](10).cuda().to(memory_format=layout)
    pictures, labels = data.train.read(range(128), None).cuda().float() / 255, data.train.labels[:128].cuda()
    pictures = pictures.contiguous(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=True)

    def step() -> None:
        F.cross_entropy(model(pictures), labels).backward()
        optimizer.step()

    aside = torch.cuda.Stream()
    with torch.cuda.stream(aside):
        for _ in range(5):
            step()
            optimizer.zero_grad(set_to_none=True)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def timed(work: Callable[[], object], count: int = 1000) -> tuple[float, float]:
    """Milliseconds a call: of the device, and of the host for the first 20 calls, which wait for nothing."""
    for _ in range(50):
        work()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(20):
        work()
    host = (time.perf_counter() - begun) * 50
    torch.cuda.synchronize()
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    for _ in range(count):
        work()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) / count, host


def where_it_goes(folder: Path) -> None:
    """Two small networks in every way, and what host and device do in a step."""
    file, data = folder / "models.py", stored()
    file.write_text(SMALL)
    torch.backends.cudnn.benchmark = True
    ways: dict[str, dict[str, object]] = {
        "": {},
        "--augment none": {"augment": "none"},
        "--channels-last": {"channels_last": True},
        "--channels-last --precision bf16": {"channels_last": True, "precision": "bf16"},
    }
    for net in ("cnn", "wide"):
        for layout in (torch.contiguous_format, torch.channels_last):
            device, host = timed(graph_by_hand(file, net, data, layout))
            say(f"{net}: a bare CUDA graph by hand, {layout}: {device:.3f} ms, host {host:.3f} ms")
        for name, change in ways.items():
            guarded(lambda net=net, name=name, change=change: one_way(f"{file}:{net}", data, name, change))


def one_way(model: str, data: Data, name: str, change: dict[str, object]) -> None:
    run = Run(model=model, optimizer="sgd", lr=0.01, batch_size=128, watch=False, compile="graph")
    made = ready(replace(run, **change), data)
    replay = Replay(_gradients, _update, None, 3)
    stream = batches(made.data.train, made.plan, 0, 10**9)
    made.parts.model.train()
    for step in range(6):
        made.parts.rate(step)
        replay(made.parts, next(stream), made.device)
    assert replay.graph is not None
    bare, _ = timed(replay.graph.replay)
    loop = steps(made.parts, stream, made.device, 0)
    took, host = timed(lambda: next(loop))
    read, _ = timed(lambda: next(stream))
    net = model.rpartition(":")[2]
    say(
        f"{net}: graph {name}: bare replay {bare:.3f} ms, step {took:.3f} ms (bar 0.50), host {host:.3f} ms, reading {read:.3f} ms"
    )
    if name or net != "cnn":
        return
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(500):
        next(loop)
    profile.disable()
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(18)
    say("host, 500 steps\n" + "\n".join(line[:110] for line in text.getvalue().splitlines() if line.strip()))


def one_small(model: str, data: Data, how: str) -> None:
    for augment in ("none", "shift"):
        run = Run(model=model, optimizer="sgd", lr=0.01, augment=augment, batch_size=128, watch=False, compile=how)
        made = ready(run, data)
        loop = steps(made.parts, batches(made.data.train, made.plan, 0, 10**9), made.device, 0)
        took = 1000 / rate(loop, 200, 1000)
        begun = time.thread_time()
        for _ in itertools.islice(loop, 200):
            pass
        host = (time.thread_time() - begun) * 5
        torch.cuda.synchronize()
        bar = " (bar 0.50)" if how == "graph" else ""
        say(
            f"small CNN, `lore train --compile {how} --augment {augment}`: {took:.3f} ms a step{bar}, host {host:.3f} ms"
        )


def weights(made: Ready) -> Tensor:
    return torch.cat([one.detach().flatten().float().cpu() for one in made.parts.model.state_dict().values()])


def trained(run: Run, folder: Path, stop: int = 0) -> Tensor:
    """The weights after a run on the digits; it is stopped once after a step and resumed."""
    data = digits(0.15, 0)
    if stop:
        made = ready(run, data)

        def rate_and_stop(step: int, real: Callable[[int], float] = made.parts.rate) -> float:
            if step == stop - 1:
                os.kill(os.getpid(), signal.SIGTERM)
            return real(step)

        outcome = fitting.fit(replace(made, parts=replace(made.parts, rate=rate_and_stop)), folder)
        assert outcome.step == stop, outcome
    made = ready(run, data)
    assert fitting.fit(made, folder).step == made.total_steps
    return weights(made)


def same_bits(folder: Path) -> None:
    """Dropout, augmentation, averaging and clipping, five epochs of 20 steps, with determinism on."""
    run = Run(epochs=5, deterministic=True, watch=False, ema=0.99, compile="none")
    changes: dict[str, dict[str, object]] = {
        "adamw": {},
        "clipped": {"clip": 1.0},
        "sgd": {"optimizer": "sgd", "lr": 0.05},
        "bf16": {"precision": "bf16"},
        "fp16": {"precision": "fp16"},
    }
    for name, change in changes.items():
        guarded(lambda name=name, change=change: same(replace(run, **change), folder / name))
    set_deterministic(False)


def same(run: Run, folder: Path) -> None:
    eager = trained(run, folder / "eager")
    graph = trained(replace(run, compile="graph"), folder / "graph")
    again = trained(replace(run, compile="graph"), folder / "again", stop=47)
    resumed, away = (graph - again).abs().max(), (graph - eager).abs().max()
    say(
        f"graph, {folder.name}: stopped at step 47 and resumed, largest difference {resumed:.2e}; from eager {away:.2e}"
    )


def guarded(work: Callable[[], None]) -> None:
    try:
        work()
    except Exception:  # noqa: BLE001 - the machine is lent for minutes: one part's failure must not cost the others
        say(f"FAILED\n{traceback.format_exc()}")


def main() -> None:
    torch.set_num_threads(1)
    say(f"torch {torch.__version__} on {torch.cuda.get_device_name()}, {len(os.sched_getaffinity(0))} cores")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = name
        if "small" in sys.argv[1:]:
            guarded(lambda: where_it_goes(folder))
            guarded(lambda: same_bits(folder))
            return
        guarded(lambda: small(folder))
        guarded(lambda: same_bits(folder))
        guarded(lambda: write_pictures(folder / "pictures"))
        guarded(lambda: decoders_agree(folder / "pictures"))
        guarded(lambda: resnet(folder / "pictures"))
    say("done")


if __name__ == "__main__":
    main()
