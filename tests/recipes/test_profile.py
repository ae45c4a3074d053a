import copy
import time
import xml.etree.ElementTree as ET

import pytest
import torch
import torchvision
from torch import nn

from torchlore.recipes import profile


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.act = nn.ReLU(inplace=True)
        self.tied = nn.Linear(4, 4, bias=False)
        self.tied.weight = self.layer.weight
        self.unused = nn.Linear(9, 9)
        self.lstm = nn.LSTM(4, 3)

    def forward(self, x, scale=1.0):
        y = self.act(self.norm(self.layer(self.layer(self.layer(x)))))
        return {"out": self.lstm(self.tied(y) * scale)[0], "extra": [y + x]}


def hooks(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_a_layer_that_runs_three_times_is_counted_once_and_said_so():
    model = Shared().train()
    table = profile.summary(model, torch.zeros(5, 4), scale=2.0)
    rows = {row.name: row for row in table.rows}
    assert table.parameters == sum(p.numel() for p in model.parameters())
    assert (rows["layer"].calls, rows["layer"].parameters, rows["layer"].macs) == (3, 20, 3 * 5 * 16)
    assert "layer ran 3 times: its 20 parameters are counted once" in table.remarks
    assert "layer.weight and tied.weight are one tensor, counted once" in table.remarks
    assert rows["unused"].calls == 0
    text = str(table)
    assert "layer x3" in text
    assert "did not run" in text
    assert rows["lstm"].shape == (5, 3)
    assert rows["act"].output_bytes == 5 * 4 * 4
    assert model.training
    assert model.norm.num_batches_tracked == 0
    assert hooks(model) == 0


@pytest.mark.parametrize(
    ("name", "parameters", "gmacs"),
    [("resnet18", 11_689_512, 1.814), ("resnet50", 25_557_032, 4.089), ("mobilenet_v2", 3_504_872, 0.301)],
)
def test_the_published_sizes_of_known_models(name, parameters, gmacs):
    with torch.device("meta"):
        model = torchvision.models.get_model(name)
        table = profile.summary(model, torch.empty(1, 3, 224, 224))
    assert table.parameters == parameters
    assert table.macs / 1e9 == pytest.approx(gmacs, abs=0.002)
    assert table.rows[0].shape == (1, 1000)
    assert table.activation_bytes > table.rows[1].output_bytes


def test_a_transformer_counts_attention():
    with torch.device("meta"):
        table = profile.summary(torchvision.models.vit_b_16(), torch.empty(1, 3, 224, 224))
    assert table.macs / 1e9 == pytest.approx(17.56, abs=0.2)


def test_a_model_that_raises_is_put_back():
    model = Shared().train()
    for call in (profile.summary, profile.profile_modules, profile.trace_graph):
        with pytest.raises(RuntimeError, match="shapes"):
            call(model, torch.zeros(5, 9))
        assert hooks(model) == 0
        assert all(m.training for m in model.modules())


class Slow(nn.Module):
    """Takes a known time forward and backward."""

    def __init__(self, forward, backward):
        super().__init__()
        self.times = forward, backward
        self.weight = nn.Parameter(torch.ones(()))

    def forward(self, x):
        times = self.times

        class Sleep(torch.autograd.Function):
            @staticmethod
            def forward(ctx, value):
                time.sleep(times[0])
                return value.clone()

            @staticmethod
            def backward(ctx, grad):
                time.sleep(times[1])
                return grad

        return Sleep.apply(x * self.weight)


def test_each_module_gets_its_own_time():
    model = nn.Sequential(Slow(0.02, 0.04), nn.Sequential(Slow(0.05, 0.01), nn.ReLU(inplace=True)))
    costs = profile.profile_modules(model, torch.randn(4), repeat=1, warmup=1)
    rows = {row.name: row for row in costs.rows}
    assert rows["0"].forward_ms > 19
    assert rows["1.0"].forward_ms > 49
    assert rows["0"].backward_ms > 39
    assert 9 < rows["1.0"].backward_ms < rows[""].backward_ms - 39
    assert rows["1"].own_ms < rows["1.0"].forward_ms <= rows["1"].forward_ms
    assert rows["0"].forward_ms + rows["1"].forward_ms <= rows[""].forward_ms <= costs.forward_ms
    assert rows[""].own_ms == pytest.approx(rows[""].forward_ms - rows["0"].forward_ms - rows["1"].forward_ms)
    assert "(model) Sequential" in str(costs)


def test_what_is_kept_for_the_backward_pass_is_counted_once():
    model = nn.Sequential(nn.Linear(100, 100), nn.ReLU(), nn.Linear(100, 10))
    x = torch.randn(50, 100)
    costs = profile.profile_modules(model, x, repeat=1, warmup=0)
    rows = {row.name: row.saved_bytes for row in costs.rows}
    assert rows["0"] == 50 * 100 * 4  # its input
    assert rows["1"] == 50 * 100 * 4  # its output
    assert rows["2"] == 0  # its input is the output of 1, already counted
    assert rows[""] == 2 * 50 * 100 * 4


def test_profiling_changes_nothing():
    model = Shared().train()
    model(torch.randn(5, 4))["out"].sum().backward()
    state = copy.deepcopy(model.state_dict())
    grads = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    profile.profile_modules(model, torch.randn(5, 4), repeat=2)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    for p, grad in zip(model.parameters(), grads, strict=True):
        assert (p.grad is None) == (grad is None)
        assert grad is None or torch.equal(p.grad, grad)
    assert hooks(model) == 0


def test_a_model_without_gradients_can_be_timed_forward():
    model = nn.Sequential(nn.Flatten())
    with pytest.raises(RuntimeError, match="backward=False"):
        profile.profile_modules(model, torch.randn(2, 3))
    assert profile.profile_modules(model, torch.randn(2, 3), backward=False, repeat=1).backward_ms == 0
    with pytest.raises(ValueError, match="repeat is 0"):
        profile.profile_modules(model, torch.randn(2, 3), repeat=0)


def labels(graph):
    return [node.label for node in graph.nodes]


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.conv(x))
        y += x
        return torch.cat([y, y.flip(0)[:1].expand_as(y)]).mT


def test_functions_between_layers_and_skips_are_in_the_graph():
    graph = profile.trace_graph(Residual(), torch.zeros(2, 3, 4, 4))
    assert labels(graph) == [
        "input",
        "Conv2d",
        "ReLU",
        "add",
        "flip",
        "getitem",
        "expand_as",
        "cat",
        "mT",
        "output",
    ]
    number = {label: n for n, label in enumerate(labels(graph))}
    edges = {(labels(graph)[a], labels(graph)[b]) for a, b in graph.edges}
    assert ("input", "add") in edges
    assert ("ReLU", "add") in edges
    assert ("add", "cat") in edges
    assert ("expand_as", "cat") in edges
    assert all(a < b for a, b in graph.edges)
    assert graph.nodes[number["Conv2d"]].detail == "conv, 2x3x4x4"


@pytest.mark.parametrize(
    ("name", "depth", "count"), [("resnet18", None, 71), ("resnet18", 1, 13), ("vit_b_32", 1, 9), ("densenet121", 1, 7)]
)
def test_known_models_are_connected_from_input_to_output(name, depth, count):
    with torch.device("meta"):
        graph = profile.trace_graph(torchvision.models.get_model(name), torch.empty(1, 3, 224, 224), depth=depth)
    assert len(graph.nodes) == count
    reached = {0}
    for source, target in sorted(graph.edges):
        reached |= {target} if source in reached else set()
    assert len(graph.nodes) - 1 in reached
    assert {node.kind for node in graph.nodes} <= {"input", "layer", "function", "output"}


def test_the_picture_is_well_formed_and_no_two_boxes_meet():
    graph = profile.trace_graph(torchvision.models.googlenet(init_weights=False).eval(), torch.zeros(1, 3, 64, 64))
    root = ET.fromstring(profile.graph_svg(graph))
    boxes = [
        tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in root.iter() if r.tag.endswith("rect")
    ]
    assert len(boxes) == len(graph.nodes)
    for i, (x, y, w, h) in enumerate(boxes):
        for x2, y2, _, _ in boxes[i + 1 :]:
            assert abs(x - x2) >= w or abs(y - y2) >= h
    paths = [p for p in root.iter() if p.tag.endswith("path") and p.get("marker-end")]
    assert len(paths) == len(graph.edges)


def test_names_from_outside_are_escaped():
    graph = profile.Graph([profile.GraphNode('<b>"x"\\', "<script>", "layer")])
    svg = profile.graph_svg(graph)
    assert "<script>" not in svg
    ET.fromstring(svg)
    assert '\\"x\\"\\\\' in profile.graph_dot(graph)
