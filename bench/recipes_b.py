"""Speed of optim, schedules, features, checkpoint, data, video, device and profile: literal snippet, best peer, ours.

    PYTHONPATH=src python3 bench/recipes_b.py                  # CPU
    PYTHONPATH=src python3 bench/recipes_b.py --device cuda    # what runs on the device, there
    PYTHONPATH=src python3 bench/recipes_b.py --only EMA       # rows whose name contains it

Ours is checked against the reference first; how it is timed stands in `side_by_side.py`. Peers that are not installed are
left out. Where ours guards against something that a peer does not (a power cut, a changed byte), the peer is given the
lines that a user would write for the same guard; what the guard costs is the difference to the literal column. Files are
timed by processor time too: the disk's own time is the same for the same bytes, and shared disks are not steady.
"""

from __future__ import annotations

import copy
import hashlib
import io
import itertools
import math
import os
import random
import tempfile
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # the determinism row needs it before CUDA starts

import side_by_side
import torch
from side_by_side import Row, have
from torch import nn

from torchlore.recipes import checkpoint, data, device, features, optim, profile, schedules, seed, video, weights

if TYPE_CHECKING:
    from collections.abc import Callable


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
    torch.testing.assert_close(
        [p.grad for p in model.parameters()], [p.grad for p in twin.parameters()], rtol=0, atol=0
    )
    parameters = list(model.parameters())
    total = sum(p.numel() for p in parameters)
    ever_less = (20.0 * 0.9999**number for number in itertools.count(1))  # so that there is always something to cut
    return [
        Row(
            "clip ResNet-50, all cut",
            lambda: optim.clip_norm(parameters, next(ever_less), nonfinite="keep"),
            lambda: nn.utils.clip_grad_norm_(parameters, max_norm=next(ever_less)),
            bytes_moved=3 * 4 * total,
        ),
        Row(
            "clip ResNet-50, all cut, checked",
            lambda: optim.clip_norm(parameters, next(ever_less)),
            lambda: nn.utils.clip_grad_norm_(parameters, max_norm=next(ever_less), error_if_nonfinite=True),
            bytes_moved=3 * 4 * total,
        ),
        Row(
            "clip ResNet-50, nothing to cut",
            lambda: optim.clip_norm(parameters, 30.0),
            lambda: nn.utils.clip_grad_norm_(parameters, max_norm=30.0, error_if_nonfinite=True),
            bytes_moved=4 * total,
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
    total = sum(value.numel() for value in model.state_dict().values())
    return [Row("EMA of ResNet-50", lambda: ours.update(model), literal, peers, bytes_moved=3 * 4 * total)]


def group_rows(_place: torch.device) -> list[Row]:
    model = resnet(torch.device("cpu"))
    peers, layer_peers = {}, {}
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
        Row(
            "decay groups of ResNet-50",
            lambda: optim.decay_groups(model, 0.1),
            literal,
            peers,
            literal_does_less=True,
            remark="literal decays norms",
        ),
        Row("layer decay of ResNet-50", lambda: optim.layer_decay_groups(model, 1.0, 0.75, 0.1), peers=layer_peers),
    ]


def schedule_rows(_place: torch.device) -> list[Row]:
    from torch.optim import lr_scheduler

    def optimizer() -> torch.optim.Optimizer:
        return torch.optim.SGD([{"params": [torch.zeros(1, requires_grad=True)]} for _ in range(4)], lr=0.1)

    first, second, third = optimizer(), optimizer(), optimizer()
    plan = schedules.Warmup(schedules.Cosine(10_000), 100)
    ours = schedules.ScheduleLR(second, plan, per="step")
    literal = lr_scheduler.LambdaLR(
        first, lambda t: (t + 1) / 100 if t < 99 else 0.5 * (1 + math.cos(math.pi * t / 10_000))
    )
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

    def by_lambda() -> None:
        torch_steps(first, literal)

    peers = {"ChainedScheduler": lambda: torch_steps(third, chained)}
    remark = "4 groups, empty optimizer step"
    return [
        Row("100 steps of ScheduleLR", lambda: torch_steps(second, ours), by_lambda, peers, remark=remark),
        Row("100 steps of schedules.apply", plain, by_lambda, peers, remark=remark),
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
            remark="literal runs the later layers too",
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

    def synced(write: Callable[[Path], object], path: Path) -> None:
        """What a user writes for a file that is whole or not there after a power cut."""
        part = path.with_suffix(".part")
        write(part)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)

    def summed_save() -> None:
        synced(lambda path: torch.save(state, path), folder / "plain.pt")
        total = zlib.crc32((folder / "plain.pt").read_bytes())
        (folder / "plain.crc").write_text(f"{total:08x}")

    def checked_load() -> object:
        with zipfile.ZipFile(folder / "plain.pt") as archive:
            assert archive.testzip() is None
        return torch.load(folder / "plain.pt", weights_only=True, map_location="cpu")

    rows = [
        Row(
            "save ResNet-18 + SGD",
            lambda: checkpoint.save(state, folder / "ours.pt"),
            lambda: torch.save(state, folder / "plain.pt"),
            {"torch.save, crc32, fsync, rename": summed_save},
            literal_does_less=True,
            remark="94 MB",
        ),
        Row(
            "load it, every checksum verified",
            lambda: checkpoint.load(folder / "ours.pt"),
            lambda: torch.load(folder / "plain.pt", weights_only=True, map_location="cpu"),
            {"zipfile.testzip, torch.load": checked_load},
            literal_does_less=True,
        ),
        Row(
            "load it, unchecked",
            lambda: checkpoint.load(folder / "ours.pt", check=False),
            lambda: torch.load(folder / "plain.pt", weights_only=True, map_location="cpu"),
        ),
    ]
    return rows + (weight_rows(bare, folder, synced) if have("safetensors") else [])


def weight_rows(
    bare: dict[str, torch.Tensor], folder: Path, synced: Callable[[Callable[[Path], object], Path], None]
) -> list[Row]:
    from safetensors.torch import load_file, save_file

    def digest(state: dict[str, torch.Tensor]) -> str:
        total = hashlib.sha256()
        for name in sorted(state):
            total.update(name.encode())
            total.update(state[name].reshape(-1).view(torch.uint8).numpy().data)
        return total.hexdigest()

    def hashed_write() -> None:
        synced(lambda path: save_file(bare, path, {"sha256": digest(bare)}), folder / "theirs.safetensors")

    def hashed_read() -> object:
        state = load_file(folder / "ours.safetensors")
        digest(state)
        return state

    return [
        Row(
            "write weights, hashed, synced",
            lambda: weights.write(bare, folder / "ours.safetensors"),
            lambda: save_file(bare, folder / "theirs.safetensors"),
            {"safetensors, sha256, fsync, rename": hashed_write},
            literal_does_less=True,
            remark="45 MB",
        ),
        Row(
            "read weights, hash verified",
            lambda: weights.read(folder / "ours.safetensors"),
            lambda: load_file(folder / "ours.safetensors"),
            {"safetensors, sha256": hashed_read},
            literal_does_less=True,
            remark="literal maps the file and reads nothing yet",
        ),
        Row(
            "read weights, unchecked",
            lambda: weights.read(folder / "ours.safetensors", check=False),
            lambda: load_file(folder / "ours.safetensors"),
        ),
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

    def seeded_by_hand() -> None:
        import numpy as np

        for first in range(0, 1000, 50):
            before = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002  # what transforms draw from
            for index in range(first, first + 50):
                random.seed(index)
                np.random.seed(index)  # noqa: NPY002  # as above
                torch.manual_seed(index)
                noise[index]
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002  # as above
            torch.set_rng_state(before[2])

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
            {"three generators by hand": seeded_by_hand},
            literal_does_less=True,
            remark="batches of 50",
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

    kept = h5py.File(path, "r")
    pictures, labels = kept["data"], kept["target"]

    def by_hand() -> list[object]:
        return [[torch.from_numpy(pictures[i]), torch.tensor(labels[i])] for i in range(256)]

    return [
        Row(
            "read 256 HDF5 samples",
            lambda: [ours[i] for i in range(256)],
            literal,
            {"h5py, kept open": by_hand},
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
                remark="640x360 h264, GOP 60",
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
    return [Row("move a nested batch", lambda: device.move(batch, place), peers=peers, remark="52 tensors")]


def determinism_rows(place: torch.device) -> list[Row]:
    model = resnet(place, "resnet18")
    images = torch.randn(32 if place.type == "cuda" else 2, 3, 128, 128, device=place)

    def step() -> None:
        model.zero_grad()
        model(images).sum().backward()

    def careful() -> None:
        with seed.deterministic(warn_only=True):
            step()

    return [Row("ResNet-18 step, deterministic", careful, step, literal_does_less=True)]


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
            "summary of ResNet-18",
            lambda: profile.summary(model, images),
            run,
            peers,
            literal_does_less=True,
            remark="literal: the bare forward pass",
        ),
        Row("graph picture of it", lambda: profile.graph_svg(profile.trace_graph(model, images))),
    ]


PARTS = (
    clip_rows,
    ema_rows,
    group_rows,
    schedule_rows,
    feature_rows,
    checkpoint_rows,
    decode_rows,
    sampler_rows,
    h5_rows,
    video_rows,
    device_rows,
    determinism_rows,
    profile_rows,
)


if __name__ == "__main__":
    options = side_by_side.arguments(__doc__)
    side_by_side.run([partial(make, torch.device(options.device)) for make in PARTS], options)
