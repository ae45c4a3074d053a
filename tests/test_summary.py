"""The summary of a model: its totals are torch's own numbers, its fields what an impulse shows."""

import json
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from torchlore.cli import main
from torchlore.extract.fields import receptive_fields
from torchlore.extract.overview import flame, lines
from torchlore.recipes.profile import Cost, Costs, summary, trace_graph

MODEL = """
from torch import nn

class Twice(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.same = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        x = self.same(self.same(self.first(x)).relu())
        return self.head(x.mean((2, 3)))

def make(classes):
    return Twice(classes)

class Looks(Twice):
    def forward(self, x):
        return super().forward(x if x.sum().item() < 1 else -x)

def looks(classes):
    return Looks(classes)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(MODEL)
    return tmp_path


def as_json(words: str, capsys: pytest.CaptureFixture[str]) -> dict:
    assert main(["summary", *words.split(), "--json"]) == 0
    found: dict = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(
    ("name", "size"), [("resnet18", 64), ("mobilenet_v3_small", 64), ("squeezenet1_1", 64), ("shufflenet_v2_x0_5", 96)]
)
def test_totals_are_torchs_own(name: str, size: int, capsys: pytest.CaptureFixture[str]) -> None:
    from torchvision import models

    found = as_json(f"{name} --input 3,{size},{size} --batch-size 2", capsys)
    model = models.get_model(name, weights=None).eval()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(torch.zeros(2, 3, size, size))
    assert found["parameters"] == sum(p.numel() for p in model.parameters())
    assert found["buffer_bytes"] == sum(b.nbytes for b in model.buffers())
    assert found["macs"] * 2 == counter.get_total_flops()
    outputs: list[int] = []
    for module in model.modules():
        if not list(module.children()):
            module.register_forward_hook(lambda _m, _a, output: outputs.append(output.nbytes))
    with torch.no_grad():
        model(torch.zeros(2, 3, size, size))
    assert found["activation_bytes"] == sum(outputs)


def test_a_layer_used_twice_is_counted_once_and_said_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json("net.py:make --input 3,16,16", capsys)
    assert found["parameters"] == 3 * 8 * 9 + 8 + 8 * 8 * 9 + 8 + 8 * 1000 + 1000
    same = next(row for row in found["rows"] if row["name"] == "same")
    assert (same["calls"], same["parameters"], same["macs"]) == (2, 584, 2 * 8 * 8 * 9 * 256)
    assert same["field"] == 7
    assert main(["summary", "net.py:make", "--input", "3,16,16"]) == 0
    text = capsys.readouterr().out
    assert "same x2" in text
    assert "same ran 2 times: its 584 parameters are counted once" in text


def test_a_model_that_looks_at_values_is_run_for_real(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        as_json("net.py:looks --input 3,16,16", capsys)["macs"]
        == as_json("net.py:make --input 3,16,16", capsys)["macs"]
    )


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 2, 5, stride=2, padding=2)
        self.left = nn.Sequential(nn.Conv2d(2, 2, 3, padding=2, dilation=2), nn.ReLU(), nn.Conv2d(2, 2, 3, padding=1))
        self.right = nn.Conv2d(2, 2, 1)
        self.pool = nn.MaxPool2d(2)
        self.last = nn.Conv2d(2, 2, (3, 1), padding=(1, 0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        return self.last(self.pool(self.left(x) + self.right(x)))


def test_receptive_fields_are_what_a_gradient_shows() -> None:
    net = Residual().eval()
    for parameter in net.parameters():
        nn.init.uniform_(parameter, 0.1, 1.0)
    net.pool = nn.AvgPool2d(2)  # a maximum gives its gradient to one place only
    found = receptive_fields(net, trace_graph(net, torch.zeros(1, 1, 64, 64)))
    seen = {}
    for name, module in net.named_modules():
        if not name:
            continue
        kept = []
        handle = module.register_forward_hook(lambda _m, _a, output, kept=kept: kept.append(output))
        picture = torch.rand(1, 1, 64, 64, requires_grad=True)
        net(picture)
        handle.remove()
        middle = kept[0].shape[-1] // 2
        kept[0][0, 0, middle, middle].backward()
        touched = picture.grad[0, 0].nonzero()
        seen[name] = int((touched.amax(0) - touched.amin(0) + 1).max())
    assert found == seen


def test_the_field_of_resnet50_is_the_known_one(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["name"]: row["field"] for row in as_json("resnet50 --input 3,64,64", capsys)["rows"]}
    assert (rows["conv1"], rows["layer1"], rows["layer4"], rows["avgpool"], rows["fc"]) == (7, 35, 427, 0, 0)


def test_no_weights_means_none_for_the_backbone_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert as_json("fcn_resnet50 --input 3,64,64", capsys)["parameters"] == 32_957_013
    assert list(tmp_path.iterdir()) == []


def test_profile_graph_and_page(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "summary net.py:make --input 3,16,16 --profile --device cpu --html page.html --graph graph.svg --depth 1"
    assert main(words.split()) == 0
    text = capsys.readouterr().out
    assert "module (cpu, ms)" in text
    page, graph = Path("page.html").read_text(), Path("graph.svg").read_text()
    assert page.count("<g><title>") == 4
    assert graph.startswith("<svg")
    assert graph.count("same") >= 2
    costs = as_json("net.py:make --input 3,16,16 --profile --device cpu", capsys)["costs"]
    assert [row["calls"] for row in costs["rows"]] == [1, 1, 2, 1]
    assert all(row["forward_ms"] > 0 for row in costs["rows"])


def test_the_bars_of_a_flame_lie_inside_the_bar_above() -> None:
    rows = (
        Cost("", "Net", 1, 10.0, 1.0, 0.0, 0),
        Cost("a", "Block", 1, 6.0, 0.0, 0.0, 0),
        Cost("a.list.0", "Conv2d", 1, 6.0, 6.0, 0.0, 0),
        Cost("b", "<Odd>", 1, 3.0, 3.0, 0.0, 0),
    )
    drawn = flame(Costs(rows, "cpu", 10.0, 0.0))
    bars = [
        line.split('x="')[1].split('"')[0] + " " + line.split('width="')[1].split('"')[0]
        for line in drawn.split("<rect ")[1:]
    ]
    assert bars == ["0.0 1000.0", "0.0 600.0", "0.0 600.0", "600.0 300.0"]
    assert "<Odd>" not in drawn


def test_depth_leaves_out_what_lies_deeper() -> None:
    net = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.ReLU(), nn.Linear(8, 2)))
    found = summary(net, torch.randn(4, 8))
    assert "ReLU" in lines(found, {})
    assert "ReLU" not in lines(found, {}, depth=1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("resnet1", "the nearest are resnet18"),
        ("resnet18 --input 3,,5", "such as 3,224,224"),
        ("net.py:make --input 4,16,16", "cannot run on an input of 1x4x16x16"),
        ("net.py:make --batch-size 0", "at least 1"),
        ("lost.py:make", "there is no file lost.py"),
        ("net.py:make --input 3,16,16 --profile --device cuda:99", "--device cuda:99"),
        ("net.py:make --input 3,16,16 --graph no/where.svg", "cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_status_2(
    here: Path, capsys: pytest.CaptureFixture[str], words: str, says: str
) -> None:
    assert main(["summary", *words.split()]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1
