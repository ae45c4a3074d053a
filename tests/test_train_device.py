"""What a GPU does of the data's way and of the step. Here the CPU stands in for the device wherever that can be."""

import io
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional as F

from torchlore.recipes import _decode
from torchlore.recipes._decode import jpeg_size
from torchlore.recipes.data import BrokenImageError, PackedStrings, decode_image
from torchlore.train import fit as fitting
from torchlore.train.batches import Plan, batches, together, whole
from torchlore.train.files import Files, FolderReader
from torchlore.train.graph import arm, disarmed
from torchlore.train.jpegs import works
from torchlore.train.models import Quarters
from torchlore.train.run import Refused, Run
from torchlore.train.samples import digits
from torchlore.train.setup import ready, replayed

SIZES = ((120, 90), (90, 120), (64, 64), (63, 200), (40, 33))


def smooth(width: int, height: int, seed: int) -> Image.Image:
    """Soft colours, as photographs have them."""
    small = np.random.default_rng(seed).integers(0, 255, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def saved(image: Image.Image, kind: str = "JPEG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Plain JPEG files of several sizes and, between them, pictures that no device is trusted with."""
    root = tmp_path_factory.mktemp("pictures")
    turned = Image.Exif()
    turned[0x0112] = 6
    bodies = [saved(smooth(*size, seed), quality=90) for seed, size in enumerate(SIZES * 4)]
    bodies[3] = saved(smooth(80, 60, 3), "PNG")
    bodies[7] = saved(smooth(80, 60, 7), exif=turned)
    bodies[11] = saved(smooth(80, 60, 11).convert("CMYK"))
    bodies[12] = saved(smooth(80, 60, 12).convert("L"))
    bodies[13] = saved(smooth(80, 60, 13), progressive=True)
    for number, body in enumerate(bodies):
        (root / f"{number}.bin").write_bytes(body)
    names = PackedStrings(f"{number}.bin" for number in range(len(bodies)))
    return Files(names, torch.arange(len(bodies)), 48, "crop", FolderReader(str(root)))


def test_only_plain_jpeg_files_are_left_to_the_device(files: Files) -> None:
    packed, labels = replace(files, decodes="cpu").fetch(list(range(20)), None)
    assert labels.tolist() == list(range(20))
    assert sorted(set(range(20)) - set(packed.places.tolist())) == [3, 7, 11, 12, 13]
    plain = saved(smooth(50, 40, 0))
    assert jpeg_size(plain) == (40, 50)
    assert jpeg_size(plain[:-30]) is None
    assert jpeg_size(b"") is None


@pytest.mark.filterwarnings("ignore:The image decoding and encoding capab:DeprecationWarning")
def test_torchvision_decodes_as_pillow_does_where_simplejpeg_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from torchvision.io import ImageReadMode, decode_jpeg

    plain, turned = saved(smooth(90, 70, 5), quality=90), saved(smooth(90, 70, 5), progressive=True)
    monkeypatch.setitem(sys.modules, "simplejpeg", None)
    for decoder in (None, partial(decode_jpeg, mode=ImageReadMode.RGB)):
        monkeypatch.setattr(_decode, "_torchvision_decoder", lambda decoder=decoder: decoder)
        found = _decode._torchvision_jpeg(plain, 10**6)  # the way that this machine does not take
        assert (found is None) == (decoder is None)
        with Image.open(io.BytesIO(plain)) as image:
            assert np.array_equal(decode_image(plain).permute(1, 2, 0).numpy(), np.asarray(image))
        assert decode_image(turned).shape == (3, 70, 90)


@pytest.mark.parametrize("augment", ["crop", "flip", "none"])
def test_the_device_cuts_and_resizes_as_the_reader_does(files: Files, augment: str) -> None:
    here, there = replace(files, augment=augment), replace(files, augment=augment, decodes="cpu")
    plan = Plan(20, 3, augment=augment != "none")
    for one, other in zip(batches(here, plan, 0, 3), batches(there, plan, 0, 3), strict=True):
        assert torch.equal(one.indices, other.indices)
        assert torch.equal(one.labels, other.labels)
        away = (one.pictures.int() - other.pictures.int()).abs()
        assert away.max() <= 2  # the reader rounds between the two directions
        assert away.float().mean() < 0.3


@pytest.mark.parametrize("workers", [0, 2])
def test_what_the_device_decodes_comes_in_order_from_any_step(files: Files, workers: int) -> None:
    there, plan = replace(files, decodes="cpu"), Plan(7, 5, augment=True)
    all_of_it = list(batches(there, plan, 0, 9, workers))
    assert [(batch.epoch, batch.number) for batch in all_of_it] == [divmod(step, 3) for step in range(9)]
    for one, other in zip(all_of_it[4:], batches(there, plan, 4, 9, workers), strict=True):
        assert torch.equal(one.pictures, other.pictures)
    seen = torch.cat([batch.indices for batch in whole(there, 6, workers=workers)])
    assert seen.tolist() == list(range(20))


def test_some_are_left_to_the_reader_by_their_place(files: Files) -> None:
    packed, _ = replace(files, decodes="cpu", here=3).fetch(list(range(20)), None)
    assert [at for at in packed.places.tolist() if at % 8 < 3] == []
    assert len(packed.others) == 20 - len(packed.places)
    here = next(iter(batches(replace(files, decodes="cpu", here=3), Plan(20, 3, augment=True), 0, 1)))
    all_there = next(iter(batches(replace(files, decodes="cpu"), Plan(20, 3, augment=True), 0, 1)))
    assert (here.pictures.int() - all_there.pictures.int()).abs().max() <= 2


def test_batches_read_together_are_those_read_one_by_one() -> None:
    train = digits(0.15, 0).train
    for augment in (True, False):
        plan = Plan(64, 3, augment=augment)
        jobs = [plan.job(len(train.labels), *divmod(step, plan.length(len(train.labels)))) for step in range(50)]
        one_by_one = batches(train, plan, 0, 50)
        for one, other in zip(one_by_one, together(train, iter(jobs)), strict=True):
            assert torch.equal(one.pictures, other.pictures)
            assert torch.equal(one.labels, other.labels)
            assert (one.epoch, one.number, one.total, one.share) == (
                other.epoch,
                other.number,
                other.total,
                other.share,
            )
    assert list(together(train, iter(()))) == []


@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.SGD])
def test_an_armed_optimizer_is_saved_as_a_plain_one(kind: type[torch.optim.Optimizer]) -> None:
    weight = torch.nn.Parameter(torch.zeros(2))
    optimizer, twin = (kind([{"params": [weight], "lr": 0.25}]) for _ in range(2))
    arm(optimizer, torch.device("cpu"))
    assert isinstance(optimizer.param_groups[0]["lr"], torch.Tensor)
    assert disarmed(optimizer.state_dict()) == twin.state_dict()


def test_a_file_that_goes_away_is_named(files: Files, tmp_path: Path) -> None:
    gone = replace(files, open=FolderReader(str(tmp_path)), decodes="cpu")
    with pytest.raises(BrokenImageError, match=r"/[0-9]+\.bin cannot be read"):
        list(batches(gone, Plan(4, 0, augment=True), 0, 3))


def test_nothing_is_left_to_a_device_that_cannot(files: Files) -> None:
    assert not works(torch.device("cpu"))
    assert files.decoded_on(torch.device("cuda", 0)).decodes == "cuda:0"
    assert replace(files, open=lambda _: torch.zeros(3, 8, 8)).decoded_on(torch.device("cuda", 0)).decodes == ""


def test_a_graph_needs_a_gpu_of_its_own() -> None:
    alone, cpu = ready(Run(watch=False), digits(0.15, 0)).world, torch.device("cpu")
    with pytest.raises(Refused, match="--compile graph needs one process on one GPU"):
        replayed(Run(compile="graph"), cpu, alone)
    gpu = torch.device("cuda", 0)
    assert replayed(Run(), cpu, alone) == 0
    assert replayed(Run(watch=False), gpu, alone) == 3
    assert replayed(Run(), gpu, alone) == 64  # after what the watch looks at
    assert replayed(Run(mixup=0.2), gpu, alone) == replayed(Run(model="resnet18"), gpu, alone) == 0
    with pytest.raises(Refused, match="this is 2 on cuda"):
        replayed(Run(compile="graph"), gpu, replace(alone, size=2))


@pytest.mark.parametrize("shape", [(4, 4), (5, 7), (2, 3), (28, 30)])
def test_quarters_are_what_adaptive_pooling_gives(shape: tuple[int, int]) -> None:
    pictures = torch.randn(2, 3, *shape)
    assert torch.allclose(Quarters()(pictures), F.adaptive_avg_pool2d(pictures, 2), atol=1e-6)


needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@needs_gpu
@pytest.mark.parametrize("change", [{}, {"ema": 0.9, "clip": 1.0}, {"precision": "bf16"}, {"precision": "fp16"}])
def test_a_replayed_run_ends_with_the_bits_of_an_eager_one(tmp_path: Path, change: dict[str, object]) -> None:
    def trained(how: str) -> dict[str, torch.Tensor]:
        made = ready(Run(epochs=2, deterministic=True, watch=False, compile=how, **change), digits(0.15, 0))
        fitting.fit(made, tmp_path / how)
        return made.parts.model.state_dict()

    eager, graph = trained("none"), trained("graph")
    assert all(torch.equal(eager[name], graph[name]) for name in eager)


@needs_gpu
def test_a_model_that_decides_in_python_is_found_out(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import torch\nfrom torch import nn\n"
        "class Odd(nn.Module):\n"
        "    def __init__(self, classes):\n"
        "        super().__init__()\n"
        "        self.head, self.calls = nn.Linear(64, classes), 0\n"
        "    def forward(self, x):\n"
        "        self.calls += 1\n"
        "        return self.head(x.flatten(1)) * self.calls\n"
        "def build(classes): return Odd(classes)\n"
    )
    made = ready(Run(model=f"{tmp_path}/model.py:build", watch=False, compile="graph"), digits(0.15, 0))
    with pytest.raises(fitting.Trouble, match="give --compile none"):
        fitting.fit(made, tmp_path / "run")


@needs_gpu
def test_a_gpu_decodes_what_the_cpu_decodes(files: Files) -> None:
    device = torch.device("cuda", 0)
    if not works(device):
        pytest.skip("this torchvision was built without nvJPEG")
    plan = Plan(20, 3, augment=True)
    here, there = next(batches(files, plan, 0, 1)), next(batches(files.decoded_on(device), plan, 0, 1))
    away = (here.pictures.int() - there.pictures.cpu().int()).abs().float()
    assert away.mean() < 2
    assert (away > 16).float().mean() < 0.02
