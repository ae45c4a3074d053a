from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import nn

from torchlore.recipes import shapes
from torchlore.recipes.shapes import Layer

SMALL = {
    "size": st.integers(1, 24),
    "kernel": st.integers(1, 5),
    "stride": st.integers(1, 4),
    "padding": st.integers(0, 3),
    "dilation": st.integers(1, 3),
}


def run(module, size):
    try:
        return module(torch.zeros(1, 1, size)).shape[-1]
    except RuntimeError:
        return None


def ask(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except ValueError:
        return None


@given(**SMALL)
@settings(deadline=None, max_examples=300)
def test_conv_size_is_torchs(size, kernel, stride, padding, dilation):
    module = nn.Conv1d(1, 1, kernel, stride, padding, dilation)
    assert ask(shapes.conv_size, size, kernel, stride, padding, dilation) == run(module, size)


@given(**SMALL, ceil=st.booleans())
@settings(deadline=None, max_examples=300)
def test_pool_size_is_torchs(size, kernel, stride, padding, dilation, ceil):
    module = nn.MaxPool1d(kernel, stride, padding, dilation, ceil_mode=ceil)
    ours = ask(shapes.pool_size, size, kernel, stride, padding, dilation, ceil_mode=ceil)
    assert ours == run(module, size)


@given(**SMALL, extra=st.integers(0, 3))
@settings(deadline=None, max_examples=300)
def test_conv_transpose_size_is_torchs(size, kernel, stride, padding, dilation, extra):
    module = nn.ConvTranspose1d(1, 1, kernel, stride, padding, extra, dilation=dilation)
    ours = ask(shapes.conv_transpose_size, size, kernel, stride, padding, dilation, output_padding=extra)
    assert ours == run(module, size)


def test_the_halving_rule_needs_a_stride():
    assert [shapes.conv_size(32, k, 2, k // 2) for k in (3, 5)] == [16, 16]
    assert shapes.conv_size(32, 3, padding=1) == 32
    assert shapes.pool_size(32, 3, padding=1) == 11


@given(size=st.integers(1, 30), kernel=st.integers(1, 6), stride=st.integers(1, 4), dilation=st.integers(1, 3))
@settings(deadline=None, max_examples=200)
def test_same_padding(size, kernel, stride, dilation):
    before, after = shapes.same_padding(size, kernel, stride, dilation)
    assert 0 <= after - before <= 1
    out = nn.Conv1d(1, 1, kernel, stride, 0, dilation)(nn.functional.pad(torch.zeros(1, 1, size), (before, after)))
    assert out.shape[-1] == -(-size // stride)
    if stride == 1:
        assert (before + after) == dilation * (kernel - 1)


@given(size=st.integers(1, 30), output=st.integers(1, 30))
@settings(deadline=None, max_examples=100)
def test_adaptive_bins_are_torchs(size, output):
    x = torch.arange(float(size)).view(1, 1, size)
    bins = shapes.adaptive_bins(size, output)
    torch.testing.assert_close(
        nn.AdaptiveAvgPool1d(output)(x)[0, 0], torch.tensor([x[0, 0, a:b].mean() for a, b in bins])
    )


LAYER = st.builds(
    Layer,
    st.sampled_from(["conv", "pool", "transpose"]),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(0, 1),
    st.integers(1, 2),
)


def module_of(layer):
    if layer.kind == "conv":
        return nn.Conv1d(1, 1, layer.kernel, layer.stride, layer.padding, layer.dilation, bias=False)
    if layer.kind == "transpose":
        return nn.ConvTranspose1d(
            1, 1, layer.kernel, layer.stride, layer.padding, 0, dilation=layer.dilation, bias=False
        )
    return nn.MaxPool1d(layer.kernel, layer.stride, layer.padding, layer.dilation)


def touched(layers, size, index):
    """Which inputs change the output: by gradients of all-ones layers, a pool as a sum."""
    x = torch.ones(1, 1, size, dtype=torch.float64, requires_grad=True)
    y = x
    for layer in layers:
        ones = torch.ones(1, 1, layer.kernel, dtype=torch.float64)
        if layer.kind == "transpose":
            y = nn.functional.conv_transpose1d(y, ones, None, layer.stride, layer.padding, 0, 1, layer.dilation)
        else:
            y = nn.functional.conv1d(y, ones, None, layer.stride, layer.padding, layer.dilation)
    (grad,) = torch.autograd.grad(y[0, 0, index], x)
    return grad[0, 0].nonzero().flatten().tolist()


@given(size=st.integers(6, 24), layers=st.lists(LAYER, min_size=1, max_size=4), place=st.floats(0, 0.999))
@settings(deadline=None, max_examples=200)
def test_sources_and_chain_are_what_gradients_say(size, layers, place):
    stages = ask(shapes.chain, size, layers)
    assume(stages is not None)
    assert stages[-1].size == nn.Sequential(*map(module_of, layers))(torch.zeros(1, 1, size)).shape[-1]
    index = int(place * stages[-1].size)
    found = shapes.sources(size, layers, index)
    assert found == touched(layers, size, index)
    if all(layer.kind != "transpose" for layer in layers):
        assert shapes.receptive_field(layers) == stages[-1].field
        low = stages[-1].centre + index * stages[-1].jump - (stages[-1].field - 1) / 2
        if found and low >= 0 and low + stages[-1].field <= size:
            assert (found[0], found[-1]) == (low, low + stages[-1].field - 1)
    elif found:
        assert found[-1] - found[0] + 1 <= stages[-1].field


def test_resnet_stem():
    stages = shapes.chain(224, [Layer("conv", 7, 2, 3), Layer("pool", 3, 2, 1)])
    assert [(s.size, s.field, s.jump, s.centre) for s in stages] == [(112, 7, 2, 0), (56, 11, 4, 0)]


def test_layers_are_read_from_modules():
    net = nn.Sequential(
        nn.Conv2d(3, 8, (3, 5), (1, 2), (1, 2), dilation=(2, 1)),
        nn.ReLU(),
        nn.Sequential(nn.MaxPool2d(3, ceil_mode=True), nn.ConvTranspose2d(8, 8, 4, 2, 1)),
        nn.Conv2d(8, 8, 3, padding="same", dilation=2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool2d(1),
    )
    wide, high = shapes.layers_of(net), shapes.layers_of(net, side=-2)
    assert [layer.name for layer in wide] == ["0", "2.0", "2.1", "3", "4"]
    assert wide[0] == Layer("conv", 5, 2, 2, 1, name="0")
    assert high[0] == Layer("conv", 3, 1, 1, 2, name="0")
    x = net[:-1](torch.zeros(1, 3, 40, 50))
    assert (shapes.chain(40, high)[-1].size, shapes.chain(50, wide)[-1].size) == tuple(x.shape[-2:])
    with pytest.raises(ValueError, match="pads one side more"):
        shapes.layers_of(nn.Sequential(nn.Conv2d(1, 1, 2, padding="same")))


@pytest.mark.parametrize("text", ["", "conv", "con k3", "conv k3 q2", "conv k", "pool s2"])
def test_parse_names_what_it_cannot_read(text):
    with pytest.raises(ValueError, match="parse_layer"):
        shapes.parse_layer(text)


def test_parse():
    assert shapes.parse_layer("transpose k4 s2 p1 op1") == Layer("transpose", 4, 2, 1, 1, 1)
    assert shapes.parse_layer("pool k2 ceil") == Layer("pool", 2, 2, ceil_mode=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: shapes.conv_size(3, 5), "reaches over 5 pixels, but the padded input has 3"),
        (lambda: shapes.conv_size(3, 1, 0), "stride is 0"),
        (lambda: shapes.pool_size(9, 3, 2, 2), "at most half of the kernel 3"),
        (lambda: shapes.conv_transpose_size(3, 2, 2, output_padding=2), "output_padding is 2"),
        (lambda: shapes.conv_transpose_size(1, 1, 1, 1), "padding is 1, which leaves -1 pixels"),
        (lambda: shapes.sources(9, [Layer("conv", 3)], 7), "0 to 6"),
        (lambda: shapes.receptive_field([Layer("transpose", 2, 2)]), "use sources"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_shapes_start_without_torch():
    code = "import sys, torchlore.recipes.shapes; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
