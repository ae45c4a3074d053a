"""Extraction: true activations, four formats, kill and resume, two processes, neighbours."""

import copy
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchlore.cli import main
from torchlore.extract.formats import read
from torchlore.extract.layers import layer_features, pooled
from torchlore.extract.pictures import list_pictures
from torchlore.recipes.features import extract

MODEL = """
import os, time
from pathlib import Path
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=4)
        self.norm = nn.BatchNorm2d(4)
        self.act = nn.ReLU(inplace=True)
        self.block = nn.Sequential(nn.Conv2d(4, 6, 3), nn.ReLU(inplace=True))
        self.head = nn.Linear(6, classes)

    def forward(self, x):
        if "LOG" in os.environ:
            with Path(os.environ["LOG"]).open("a") as file:
                file.write("x" * len(x))
        time.sleep(float(os.environ.get("SLOW", 0)))
        x = self.act(self.norm(self.conv(x)))
        x += 1
        return self.head(self.block(x).mean((2, 3)))

def make(classes):
    return Net(classes)

class Late(Net):
    def forward(self, x):
        self.block(self.norm(self.conv(x)))
        raise SystemExit("the forward pass went on behind the last wanted layer")

def late(classes):
    return Late(classes)
"""
SMALL = [("resnet18", 64, {}), ("mobilenet_v3_small", 64, {}), ("densenet121", 64, {}), ("swin_t", 64, {})]
MANY = [
    *SMALL,
    ("alexnet", 64, {}),
    ("vgg11_bn", 32, {}),
    ("resnet50", 64, {}),
    ("resnext50_32x4d", 64, {}),
    ("wide_resnet50_2", 64, {}),
    ("squeezenet1_1", 64, {}),
    ("inception_v3", 96, {"init_weights": False}),
    ("googlenet", 64, {"init_weights": False}),
    ("shufflenet_v2_x0_5", 64, {}),
    ("mobilenet_v2", 64, {}),
    ("mobilenet_v3_large", 64, {}),
    ("mnasnet0_5", 64, {}),
    ("efficientnet_b0", 64, {}),
    ("efficientnet_v2_s", 64, {}),
    ("regnet_x_400mf", 64, {}),
    ("regnet_y_400mf", 64, {}),
    ("convnext_tiny", 64, {}),
    ("swin_v2_t", 64, {}),
    ("vit_b_32", 64, {"image_size": 64}),
    ("maxvit_t", 224, {}),
]


def pictures(root: Path, per_class: int = 6) -> Path:
    """Pictures of three classes: noise around a pattern of the class's own."""
    from PIL import Image

    generator = torch.Generator().manual_seed(0)
    for name in ("ant", "bee", "cow"):
        (root / name).mkdir(parents=True)
        base = torch.rand(3, 6, 6, generator=generator)
        for number in range(per_class):
            noisy = (base + 0.2 * torch.rand(3, 6, 6, generator=generator)) / 1.2
            large = nn.functional.interpolate(noisy[None], (40, 56))[0]
            Image.fromarray((large * 255).byte().permute(1, 2, 0).numpy()).save(root / name / f"{number}.png")
    return root


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "net.py").write_text(MODEL)
    pictures(tmp_path / "photos")
    return tmp_path


def lore(words: str) -> int:
    return main(words.split())


def same_as_hooks(name: str, size: int, options: dict) -> int:
    """Compare every layer with a hook on a copy that has no in-place layers; give the number of layers."""
    from torchvision import models

    torch.manual_seed(0)
    model = models.get_model(name, weights=None, **options).eval()
    twin = copy.deepcopy(model)
    wanted: dict[str, torch.Tensor] = {}
    for path, module in twin.named_modules():
        if "inplace" in vars(module):
            module.inplace = False

        def keep(_module, _args, output, path=path) -> None:
            # cloned, because a block's `out += identity` would change it too
            leaves = [one.clone() for one in tree_leaves(output) if isinstance(one, torch.Tensor)]
            wanted.setdefault(path, leaves[0])

        module.register_forward_hook(keep)
    batch = torch.randn(2, 3, size, size)
    with torch.no_grad():
        twin(batch)
    layers = [path for path in wanted if path and path in dict(model.named_modules())]
    found = extract(model, layers, batch)
    assert [path for path in layers if not torch.equal(tree_leaves(found[path])[0], wanted[path])] == []
    each = [path for path in layers if len(wanted[path]) == 2]  # Swin's table of positions is not one a picture
    found = layer_features(model, each, batch)
    assert [path for path in each if not torch.equal(found[path], wanted[path])] == []
    for path in each[:: max(1, len(each) // 4)]:  # alone, with an exit behind it
        assert torch.equal(layer_features(model, [path], batch)[path], wanted[path])
    return len(layers)


@pytest.mark.parametrize(("name", "size", "options"), SMALL, ids=lambda one: one if isinstance(one, str) else "")
def test_features_equal_hooks_on_a_copy_without_inplace_layers(name: str, size: int, options: dict) -> None:
    assert same_as_hooks(name, size, options) > 50


@pytest.mark.long
@pytest.mark.parametrize(("name", "size", "options"), MANY, ids=lambda one: one if isinstance(one, str) else "")
def test_features_of_many_architectures_equal_hooks(name: str, size: int, options: dict) -> None:
    assert same_as_hooks(name, size, options) > 10


def test_a_plain_hook_would_have_been_overwritten() -> None:
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 1))
    kept = {}
    handle = net[0].register_forward_hook(lambda _m, _a, output: kept.update(plain=output))
    batch = torch.randn(3, 4)
    with torch.no_grad():
        net(batch)
        handle.remove()
        true = net[0](batch)
    assert not torch.equal(kept["plain"], true)
    assert torch.equal(layer_features(net, ["0", "2"], batch)["0"], true)


def test_pooling_finds_the_channels() -> None:
    image = torch.randn(2, 7, 5, 5)
    assert torch.equal(pooled(image), image.mean((2, 3)))
    assert torch.allclose(pooled(image.permute(0, 2, 3, 1)), image.mean((2, 3)), atol=1e-6)
    cube = torch.randn(2, 5, 5, 5)
    assert torch.equal(pooled(cube, nn.LayerNorm(5)), cube.mean((1, 2)))
    assert pooled(torch.randn(2, 9, 4)).shape == (2, 4)
    flat = torch.randn(2, 4)
    assert pooled(flat) is flat


def test_all_formats_read_back_equal(here: Path) -> None:
    (here / "photos" / "bee" / "broken.png").write_bytes(b"nonsense")
    files = {}
    for suffix in ("h5", "parquet", "safetensors"):
        assert lore(f"extract net.py:make photos --layers norm,block.1 --size 32 --batch-size 4 -o f.{suffix}") == 65
        files[suffix] = read(f"f.{suffix}")
    for layer in ("norm", "block.1"):
        assert lore(f"extract net.py:make photos --layers {layer} --size 32 --batch-size 4 -o {layer}.npy") == 65
        files[layer] = read(f"{layer}.npy")
    names = sorted(str(path.relative_to("photos")) for path in Path("photos").rglob("[0-9].png"))
    first = files["h5"]
    assert first.layers["norm"].shape == (18, 4, 8, 8)
    assert (first.layers["norm"] < 0).any(), "the ReLU behind it has written over it"
    for one in files.values():
        assert one.names == names
        assert one.labels == [name.split("/")[0] for name in names]
        assert list(one.about["broken"]) == ["bee/broken.png"]
        assert all(torch.equal(value, first.layers[layer]) for layer, value in one.layers.items())
    assert not list(here.glob("*.part*")) + list(here.glob(".*part*"))


def test_values_are_those_of_the_model(here: Path) -> None:
    from torchlore.extract.models import open_model
    from torchlore.recipes.data import decode_image
    from torchlore.train.files import middle
    from torchlore.train.models import prepared

    assert lore("extract net.py:make photos --layers head --size 32 --batch-size 5 -o f.h5") == 0
    assert lore("extract net.py:make photos --layers head --size 32 --batch-size 5 --half -o half.h5") == 0
    found = read("f.h5")
    built = open_model(str(here / "net.py:make"), "none")
    batch = torch.stack([middle(decode_image(here / "photos" / name), 32) for name in found.names])
    with torch.no_grad():
        wanted = built.model(prepared(built, torch.device("cpu"), channels_last=False)(batch))
    assert torch.allclose(found.layers["head"], wanted, atol=1e-5)
    assert read("half.h5").layers["head"].dtype == torch.float16
    assert torch.equal(read("half.h5").layers["head"], found.layers["head"].half())


def test_nothing_behind_the_last_layer_runs(here: Path) -> None:
    assert lore("extract net.py:late photos --layers conv,block.0 --size 32 -o f.npy") == 2  # two layers into one array
    assert lore("extract net.py:late photos --layers block --size 32 -o f.npy") == 0


def test_data_without_classes_and_as_a_manifest(here: Path) -> None:
    flat = here / "flat"
    flat.mkdir()
    for name in ("b.png", "a.png", "c.png"):
        (flat / name).write_bytes((here / "photos" / "ant" / "0.png").read_bytes())
    (flat / "list.csv").write_text("path,label\nc.png,x\na.png,y\n")
    found = list_pictures(str(flat))
    assert (list(found.names), list(found.labels)) == (["a.png", "b.png", "c.png"], ["", "", ""])
    listed = list_pictures(str(flat / "list.csv"))
    assert (list(listed.names), list(listed.labels)) == (["c.png", "a.png"], ["x", "y"])
    digits = list_pictures("digits")
    assert (len(digits.names), digits.names[1796], digits.channels) == (1797, "digits/1796", 1)
    assert digits.open("digits/0").shape == (1, 8, 8)


def test_a_link_out_of_the_folder_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "secret.png").write_bytes((here / "photos" / "ant" / "0.png").read_bytes())
    (here / "photos" / "ant" / "link.png").symlink_to(here / "secret.png")
    assert lore("extract net.py:make photos --layers conv --size 32 -o f.h5") == 2
    assert "leads out of the folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("net.py:make photos --layers blok.1 -o f.h5", "nearest: block"),
        ("net.py:make photos --layers conv -o f.txt", "must end in .h5"),
        ("net.py:make photos --layers conv,head -o f.npy", "holds one layer"),
        ("net.py:make nowhere --layers conv -o f.h5", "nowhere: there is no such folder"),
        ("net.py:make photos --layers conv -o no/f.h5", "there is no folder"),
        ("net.py:make photos --layers conv --weights lost.pt -o f.h5", "there is no such file"),
        ("net.py:make photos --layers conv --size 2 -o f.h5", "cannot run on 3x2x2"),
        ("net.py:make photos --layers conv --device cuda:99 -o f.h5", "--device cuda:99"),
        ("net.py:make photos --layers conv --batch-size 0 -o f.h5", "at least 1"),
        ("net.py:lost photos --layers conv -o f.h5", "has no function 'lost'"),
        ("net.py:make photos --layers conv --weights net.py -o f.h5", "does not fit"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    here: Path, capsys: pytest.CaptureFixture[str], words: str, says: str
) -> None:
    assert lore(f"extract {words}") == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
    assert not list(here.glob("f.*"))


def test_a_checkpoint_brings_its_own_number_of_classes(here: Path) -> None:
    from torchlore.extract.models import open_model

    net = open_model("net.py:make", "none").model
    net.head = nn.Linear(6, 5)
    torch.save(net.state_dict(), here / "five.pt")
    assert lore("extract net.py:make photos --layers head --size 32 --weights five.pt -o f.safetensors") == 0
    assert read("f.safetensors").layers["head"].shape == (18, 5)


def start(words: str, **environment: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "torchlore", *words.split()]
    return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1", **environment})


def test_a_killed_run_goes_on_where_it_was(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "extract net.py:make photos --layers conv --size 32 --batch-size 2 -o f.h5"
    process = start(words, SLOW="0.4")
    try:
        until = time.monotonic() + 300
        while len(list(here.glob("f.h5.parts/*.safetensors"))) < 3:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    finished = len(list(here.glob("f.h5.parts/0*.safetensors")))
    assert 3 <= finished < 9
    assert not Path("f.h5").exists()
    monkeypatch.setenv("LOG", str(here / "log"))
    assert lore(words) == 0
    assert len(Path("log").read_text()) == 2 + 18 - 2 * finished  # two empty pictures find the shapes
    assert lore(words.replace("f.h5", "whole.h5")) == 0
    assert torch.equal(read("f.h5").layers["conv"], read("whole.h5").layers["conv"])
    assert not Path("f.h5.parts").exists()


def test_parts_of_another_extraction_are_not_mixed_in(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "extract net.py:make photos --layers conv --size 32 -o f.h5"
    assert lore(words) == 0
    assert lore(words) == 0
    assert "complete already" in capsys.readouterr().out
    assert lore(words.replace("32", "48")) == 2
    assert "size: 32 there, 48 here" in capsys.readouterr().err
    assert lore(words.replace("32", "48") + " --force") == 0
    assert read("f.h5").about["size"] == 48
    (here / "photos" / "ant" / "0.png").write_bytes((here / "photos" / "bee" / "0.png").read_bytes())
    assert lore(words.replace("32", "48")) == 2
    assert "the pictures have changed" in capsys.readouterr().err
    Path("f.h5").unlink()
    Path("f.h5.parts").mkdir()
    Path("f.h5.parts/plan.json").write_text(json.dumps({"layers": ["head"]}))
    assert lore(words) == 2
    assert "parts of another extraction" in capsys.readouterr().err


def test_two_processes_write_the_same_file_as_one(here: Path) -> None:
    words = "extract net.py:make photos --layers norm,head --size 32 --batch-size 2 -o {}.safetensors"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    processes = [start(words.format("two"), RANK=str(rank), LOCAL_RANK=str(rank), **shared) for rank in range(2)]
    try:
        assert [process.wait(300) for process in processes] == [0, 0]
    finally:
        for process in processes:
            process.kill()
    assert lore(words.format("one")) == 0
    assert Path("one.safetensors").read_bytes() == Path("two.safetensors").read_bytes()


def test_the_nearest_picture_is_the_picture_itself(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lore("extract net.py:make photos --layers norm,head --size 32 -o f.parquet") == 0
    for image in ("bee/2.png", "photos/bee/2.png"):
        for distance in ("cosine", "euclidean"):
            capsys.readouterr()
            assert lore(f"similar f.parquet {image} -k 4 --json --distance {distance}") == 0
            found = json.loads(capsys.readouterr().out)
            assert found[0]["name"] == "bee/2.png"
            assert abs(found[0]["distance"]) < 1e-4
            assert [one["distance"] for one in found] == sorted(one["distance"] for one in found)
    assert lore("similar f.parquet bee/2.png -k 3 --layer norm --html page.html") == 0
    page = Path("page.html").read_text()
    assert page.count("<circle") == 18
    assert page.count("data:image/png") == 4
    assert page.count("stroke:var(--a);stroke-width:2.5") == 4  # three neighbours and the cross


def test_names_cannot_become_markup(here: Path) -> None:
    bad = "<b onclick=x>.png"
    (here / "photos" / bad).write_bytes((here / "photos" / "ant" / "0.png").read_bytes())
    assert lore("extract net.py:make photos --layers head --size 32 -o f.h5") == 0
    assert main(["similar", "f.h5", bad, "--html", "page.html"]) == 0
    assert "<b onclick" not in Path("page.html").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("lost.h5 x.png", "there is no file lost.h5"),
        ("f.h5 x.png", "is no picture file and no name"),
        ("f.h5 net.py", "net.py"),
        ("f.h5 ant/0.png --layer conv", "there is no layer 'conv'"),
        ("f.h5 ant/0.png -k 0", "at least 1"),
        ("bad.h5 ant/0.png", "cannot be read"),
        ("bad.npy ant/0.png", "bad.npy.json"),
    ],
)
def test_similar_says_what_is_wrong(here: Path, capsys: pytest.CaptureFixture[str], words: str, says: str) -> None:
    assert lore("extract net.py:make photos --layers head --size 32 -o f.h5") == 0
    Path("bad.h5").write_bytes(b"nonsense")
    Path("bad.npy").write_bytes(b"nonsense")
    capsys.readouterr()
    assert lore(f"similar {words}") == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_similar_refuses_changed_weights(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lore("extract net.py:make photos --layers head --size 32 -o f.h5") == 0
    (here / "net.py").write_text(MODEL.replace("return Net(classes)", "torch.rand(1); return Net(classes)"))
    assert lore("similar f.h5 photos/ant/0.png") == 2
    assert "are not those" in capsys.readouterr().err
