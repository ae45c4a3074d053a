"""Speed of optim, schedules, features, checkpoint, data, video, device and profile: literal snippet, best peer, ours.

    PYTHONPATH=src python3 bench/recipes_b.py                  # CPU
    PYTHONPATH=src python3 bench/recipes_b.py --device cuda    # what runs on the device, there
    PYTHONPATH=src python3 bench/recipes_b.py --only ema

Each row first checks that ours gives the reference's result. Times in milliseconds, the best of several rounds: processor
and waiting time of one thread, with a device sync on both sides. Peers that are not installed are left out.
`--json` adds one line of JSON.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import io
import json
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the determinism row needs it before CUDA starts

import torch
from torch import nn

from torchlore.recipes import checkpoint, data, device, features, optim, profile, schedules, seed, video, weights

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Row:
    """One piece of work, done in the notes' way, in the best peer's and in ours."""

    name: str
    ours: Callable[[], object]
    literal: Callable[[], object] | None = None
    peers: dict[str, Callable[[], object]] = field(default_factory=dict)
    remark: str = ""


def have(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def best(run: Callable[[], object], place: torch.device, seconds: float) -> float:
    def once() -> float:
        if place.type == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        if place.type == "cuda":
            torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - start)

    once()
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 3:
        found.append(once())
    return min(found)


def resnet(place: torch.device, name: str = "resnet50") -> nn.Module:
    import torchvision

    torch.manual_seed(0)
    return torchvision.models.get_model(name).to(place)


def clip_rows(place: torch.device) -> list[Row]:
    model = resnet(place)
    for p in model.parameters():
        p.grad = torch.randn_like(p)
    twin = copy.deepcopy(model)
    for a, b in zip(model.parameters(), twin.parameters(), strict=True):
        b.grad = a.grad.clone()
    assert torch.equal(optim.clip_norm(model, 20.0), nn.utils.clip_grad_norm_(twin.parameters(), 20.0))
    parameters = list(model.parameters())
    return [
        Row(
            "clip ResNet-50",
            lambda: optim.clip_norm(parameters, 20.0, nonfinite="keep"),
            literal=lambda: nn.utils.clip_grad_norm_(parameters, max_norm=20),
        ),
        Row(
            "clip ResNet-50, checked",
            lambda: optim.clip_norm(parameters, 20.0),
            literal=lambda: nn.utils.clip_grad_norm_(parameters, max_norm=20, error_if_nonfinite=True),
        ),
    ]


def ema_rows(place: torch.device) -> list[Row]:
    model = resnet(place)
    ours = optim.EMA(model, 0.999)
    slow = {name: value.clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def literal() -> None:
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                slow[name].mul_(0.999).add_(value, alpha=0.001)

    swa = torch.optim.swa_utils
    average = swa.AveragedModel(model, multi_avg_fn=swa.get_ema_multi_avg_fn(0.999))
    peers = {"torch AveragedModel": lambda: average.update_parameters(model)}
    if have("timm"):
        from timm.utils import ModelEmaV3

        theirs = ModelEmaV3(model, decay=0.999)
        peers["timm ModelEmaV3"] = lambda: theirs.update(model)
    return [Row("EMA of ResNet-50", lambda: ours.update(model), literal, peers)]


def group_rows(_place: torch.device) -> list[Row]:
    model = resnet(torch.device("cpu"))
    peers = {}
    if have("timm"):
        from timm.optim import param_groups_layer_decay, param_groups_weight_decay

        peers["timm"] = lambda: param_groups_weight_decay(model, 0.1)
        layer_peers = {"timm": lambda: param_groups_layer_decay(model, 0.1, layer_decay=0.75)}

    def literal() -> list[dict]:
        return [
            {"params": [p for name, p in model.named_parameters() if name[-4:] == "bias"], "weight_decay": 0},
            {"params": [p for name, p in model.named_parameters() if name[-4:] != "bias"]},
        ]

    return [
        Row("decay groups", lambda: optim.decay_groups(model, 0.1), literal, peers, "once a run; literal decays norms"),
        Row("layer decay", lambda: optim.layer_decay_groups(model, 1.0, 0.75, 0.1), None, layer_peers, "once a run"),
    ]


def schedule_rows(_place: torch.device) -> list[Row]:
    from torch.optim import lr_scheduler

    def optimizer() -> torch.optim.Optimizer:
        return torch.optim.SGD([{"params": [torch.zeros(1, requires_grad=True)]} for _ in range(4)], lr=0.1)

    first, second, third = optimizer(), optimizer(), optimizer()
    plan = schedules.Warmup(schedules.Cosine(10_000), 100)
    ours = schedules.ScheduleLR(second, plan, per="step")
    literal = lr_scheduler.LambdaLR(first, lambda t: min((t + 1) / 100, 1))
    warm = lr_scheduler.LinearLR(third, 0.01, total_iters=100)
    chained = lr_scheduler.ChainedScheduler([lr_scheduler.CosineAnnealingLR(third, 10_000), warm], third)
    bare = optimizer()

    def torch_steps(opt: torch.optim.Optimizer, scheduler: lr_scheduler.LRScheduler) -> None:
        for _ in range(100):
            opt.step()
            scheduler.step()

    def plain() -> None:
        for step in range(100):
            bare.step()
            schedules.apply(plan, bare, step)

    return [
        Row(
            "schedule, 100 steps",
            lambda: torch_steps(second, ours),
            lambda: torch_steps(first, literal),
            {"ChainedScheduler": lambda: torch_steps(third, chained), "ours, apply()": plain},
            "4 groups; with the empty optimizer step",
        )
    ]


def feature_rows(place: torch.device) -> list[Row]:
    from torchvision.models.feature_extraction import create_feature_extractor

    model = resnet(place).eval()
    images = torch.randn(8, 3, 224, 224, device=place)
    names = ["layer1", "layer2"]
    body = nn.Sequential(*list(model.children())[:-1])

    @torch.no_grad()
    def literal() -> list[torch.Tensor]:
        x, found = images, []
        for name, layer in zip([n for n, _ in model.named_children()], body, strict=False):
            x = layer(x)
            if name in names:
                found.append(x)
        return found

    traced = create_feature_extractor(model, names)

    @torch.no_grad()
    def theirs() -> dict[str, torch.Tensor]:
        return traced(images)

    for a, b in zip(features.extract(model, names, images).values(), theirs().values(), strict=True):
        assert torch.equal(a, b)
    return [
        Row(
            "features layer1, layer2",
            lambda: features.extract(model, names, images),
            literal,
            {"torchvision": theirs},
            "literal runs the later layers too",
        )
    ]


def checkpoint_rows(place: torch.device) -> list[Row]:
    model = resnet(place, "resnet18")
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for p in model.parameters():
        p.grad = torch.randn_like(p)
    opt.step()
    folder = Path(tempfile.mkdtemp())
    state = {"model": model.state_dict(), "optimizer": opt.state_dict()}
    torch.save(state, folder / "plain.pt")
    checkpoint.save(state, folder / "ours.pt")
    bare = {name: value.cpu() for name, value in model.state_dict().items()}
    weights.write(bare, folder / "ours.safetensors")
    peers = {}
    if have("safetensors"):
        from safetensors.torch import load_file, save_file

        peers = {"safetensors": lambda: save_file(bare, folder / "theirs.safetensors")}
        reads = {"safetensors": lambda: load_file(folder / "ours.safetensors")}
    return [
        Row(
            "save ResNet-18 + SGD",
            lambda: checkpoint.save(state, folder / "ours.pt"),
            lambda: torch.save(state, folder / "plain.pt"),
            remark="94 MB; ours also reaches the disk before it returns",
        ),
        Row(
            "load it",
            lambda: checkpoint.load(folder / "ours.pt"),
            lambda: torch.load(folder / "plain.pt", weights_only=True, map_location="cpu"),
            {"ours, unchecked": lambda: checkpoint.load(folder / "ours.pt", check=False)},
            "ours verifies every checksum",
        ),
        Row(
            "write weights",
            lambda: weights.write(bare, folder / "ours.safetensors"),
            None,
            peers,
            "45 MB, synced, hashed",
        ),
        Row("read weights", lambda: weights.read(folder / "ours.safetensors"), None, reads, "ours verifies the hash"),
    ]


def jpeg(size: tuple[int, int]) -> bytes:
    import numpy as np
    from PIL import Image

    y, x = np.mgrid[: size[1], : size[0]]
    noise = np.random.default_rng(0).normal(0, 12, (size[1], size[0], 3))
    array = np.stack([128 + 90 * np.sin(x / 31), 128 + 90 * np.cos(y / 17), (x + y) % 256], -1) + noise
    buffer = io.BytesIO()
    Image.fromarray(array.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def decode_rows(_place: torch.device) -> list[Row]:
    import numpy as np
    from PIL import Image

    rows = []
    for size in ((224, 224), (500, 375)):
        raw = jpeg(size)
        peers = {}
        if have("torchvision"):
            from torchvision.io import ImageReadMode, decode_image

            encoded = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
            peers["torchvision"] = lambda encoded=encoded: decode_image(encoded, ImageReadMode.RGB)
        rows.append(
            Row(
                f"decode JPEG {size[0]}x{size[1]}",
                lambda raw=raw: data.decode_image(raw),
                lambda raw=raw: torch.from_numpy(np.array(Image.open(io.BytesIO(raw)).convert("RGB"))).permute(2, 0, 1),
                peers,
            )
        )
    return rows


def sampler_rows(_place: torch.device) -> list[Row]:
    from torch.utils.data import BatchSampler, RandomSampler

    count = 1_000_000

    def skip() -> None:
        generator = torch.Generator().manual_seed(0)
        batches = iter(BatchSampler(RandomSampler(range(count), generator=generator), 256, drop_last=False))
        for _ in range(3000):
            next(batches)
        next(batches)

    ours = data.EpochBatches(count, 256, 0)
    noise = [torch.rand(3) for _ in range(1000)]
    wrapped = data.Seeded(noise, 0)  # type: ignore[arg-type] # a list is a data set
    return [
        Row(
            "order of 1 M samples",
            lambda: sum(map(len, ours)),
            lambda: sum(map(len, BatchSampler(RandomSampler(range(count)), 256, False))),
        ),
        Row("reach step 3000 of it", lambda: next(iter(ours.at(0, 3000))), skip, remark="literal replays the sampler"),
        Row(
            "1000 seeded samples",
            lambda: [wrapped.__getitems__([(0, j) for j in range(i, i + 50)]) for i in range(0, 1000, 50)],
            lambda: [noise[i] for i in range(1000)],
            remark="what exact augmentation costs, batches of 50",
        ),
    ]


def h5_rows(_place: torch.device) -> list[Row]:
    if not have("h5py"):
        return []
    import h5py

    path = Path(tempfile.mkdtemp()) / "a.h5"
    with h5py.File(path, "w") as file:
        file["data"] = torch.zeros(256, 64, 64, 3, dtype=torch.uint8).numpy()
        file["target"] = torch.arange(256).numpy()
    ours = data.H5Dataset(path, ["data", "target"])

    def literal() -> None:
        for index in range(256):
            with h5py.File(path, "r") as file:
                file["data"][index], file["target"][index]

    return [
        Row(
            "read 256 HDF5 samples",
            lambda: [ours[i] for i in range(256)],
            literal,
            remark="literal opens the file per item",
        )
    ]


def film(path: Path) -> bool:
    import av
    import numpy as np

    if "libx264" not in av.codecs_available:
        return False
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        stream.codec_context.gop_size = 60
        y, x = np.mgrid[:360, :640]
        for number in range(300):
            array = np.stack([(x + 3 * number) % 256, (y + number) % 256, (x ^ y) % 256], -1).astype(np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(array, format="rgb24")))
        container.mux(stream.encode())
    return True


def video_rows(_place: torch.device) -> list[Row]:
    if not have("av"):
        return []
    import av

    path = Path(tempfile.mkdtemp()) / "a.mp4"
    if not film(path):
        return []

    def in_order(indices: list[int]) -> torch.Tensor:
        with av.open(str(path)) as container:
            container.streams.video[0].thread_count = 1
            wanted = set(indices)
            frames = [f.to_ndarray(format="rgb24") for n, f in enumerate(container.decode(video=0)) if n in wanted]
        return torch.stack([torch.from_numpy(frame) for frame in frames]).permute(0, 3, 1, 2)

    def codec(indices: list[int]) -> torch.Tensor:
        from torchcodec.decoders import VideoDecoder

        return VideoDecoder(str(path), num_ffmpeg_threads=1).get_frames_at(indices=indices).data

    def opencv(indices: list[int]) -> list:
        import cv2

        capture = cv2.VideoCapture(str(path))
        found = []
        for index in indices:
            capture.set(cv2.CAP_PROP_POS_FRAMES, index)
            found.append(capture.read()[1][..., ::-1])
        return found

    rows = []
    for name, indices in {
        "8 segments": video.segment_indices(300, 8),
        "all 300": list(range(300)),
        "frame 290": [290],
    }.items():
        assert torch.equal(video.read_frames(path, indices), in_order(indices))
        peers = {"torchcodec": lambda i=indices: codec(i)} if have("torchcodec") else {}
        peers |= {"OpenCV": lambda i=indices: opencv(i)} if have("cv2") else {}
        rows.append(
            Row(
                f"video, {name}",
                lambda i=indices: video.read_frames(path, i),
                lambda i=indices: in_order(i),
                peers,
                "640x360 h264, GOP 60",
            )
        )
    return rows


def device_rows(place: torch.device) -> list[Row]:
    batch = {"x": [torch.zeros(8, 8) for _ in range(50)], "y": {"a": torch.zeros(3), "b": ("text", torch.zeros(4))}}
    peers = {}
    if have("lightning"):
        from lightning.fabric.utilities.apply_func import move_data_to_device

        peers["lightning"] = lambda: move_data_to_device(batch, place)
    if have("accelerate"):
        from accelerate.utils import send_to_device

        peers["accelerate"] = lambda: send_to_device(batch, place, non_blocking=True)
    return [Row("move a nested batch", lambda: device.move(batch, place), None, peers, "52 tensors")]


def determinism_rows(place: torch.device) -> list[Row]:
    model = resnet(place, "resnet18")
    images = torch.randn(32 if place.type == "cuda" else 2, 3, 128, 128, device=place)

    def step() -> None:
        model.zero_grad()
        model(images).sum().backward()

    def careful() -> None:
        with seed.deterministic(warn_only=True):
            step()

    return [Row("ResNet-18 step, deterministic", careful, step, remark="what set_deterministic costs")]


def profile_rows(place: torch.device) -> list[Row]:
    model = resnet(place, "resnet18").eval()
    images = torch.randn(1, 3, 64, 64, device=place)
    peers = {}
    if have("torchinfo"):
        import torchinfo

        peers["torchinfo"] = lambda: torchinfo.summary(model, input_data=images, verbose=0)
    run = torch.no_grad()(lambda: model(images))
    return [
        Row(
            "summary of ResNet-18", lambda: profile.summary(model, images), run, peers, "literal: the bare forward pass"
        ),
        Row("graph picture of it", lambda: profile.graph_svg(profile.trace_graph(model, images))),
    ]


PARTS = {
    "clip": clip_rows,
    "ema": ema_rows,
    "groups": group_rows,
    "schedule": schedule_rows,
    "features": feature_rows,
    "checkpoint": checkpoint_rows,
    "decode": decode_rows,
    "sampler": sampler_rows,
    "h5": h5_rows,
    "video": video_rows,
    "device": device_rows,
    "determinism": determinism_rows,
    "profile": profile_rows,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", choices=PARTS, nargs="*", default=list(PARTS))
    parser.add_argument("--seconds", type=float, default=0.5, help="how long to repeat each")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    place = torch.device(options.device)
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, {options.device}, milliseconds, one thread")
    print(f"{'':30}{'literal':>10}{'ours':>10}  peers")
    results = []
    for part in options.only:
        for row in PARTS[part](place):
            literal = best(row.literal, place, options.seconds) if row.literal else None
            peers = {name: round(best(run, place, options.seconds), 3) for name, run in row.peers.items()}
            ours = best(row.ours, place, options.seconds)
            shown = "" if literal is None else f"{literal:10.3f}"
            told = ", ".join(f"{name} {value}" for name, value in peers.items())
            print(
                f"{row.name:30}{shown:>10}{ours:10.3f}  {told}{'  (' + row.remark + ')' if row.remark else ''}",
                flush=True,
            )
            results.append({"row": row.name, "literal": literal, "ours": ours, **peers})
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
