"""Recipes that had examples only, held to an independent reference over drawn inputs."""

from __future__ import annotations

import itertools
import pickle
import random
from collections import OrderedDict

import numpy as np
import pytest
import torch
import torchvision
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from torchlore.recipes import (
    checkpoint,
    data,
    features,
    init,
    layers,
    memory,
    metrics,
    optim,
    profile,
    seed,
    tensors,
    weights,
)

WIDTHS = st.lists(st.integers(1, 5), min_size=2, max_size=6)
SHAPES = st.lists(st.integers(1, 4), max_size=3).map(tuple)


def stack(widths):
    """Linear layers with a ReLU behind each, as long as the list says."""
    pairs = [(nn.Linear(a, b), nn.ReLU(inplace=True)) for a, b in itertools.pairwise(widths)]
    return nn.Sequential(*[layer for pair in pairs for layer in pair])


# features, profile, init, layers ---------------------------------------------------------------------------------------


@given(widths=WIDTHS, draw=st.data())
def test_what_is_extracted_is_what_the_layers_before_it_give(widths, draw):
    net, x = stack(widths), torch.randn(3, widths[0])
    place = draw.draw(st.integers(0, len(net) - 1))
    wanted = x
    for layer in net[: place + 1]:
        wanted = layer(wanted.clone())
    torch.testing.assert_close(features.extract(net, str(place), x)[str(place)], wanted.detach(), rtol=0, atol=0)
    torch.testing.assert_close(features.Extractor(net, str(place))(x), wanted.detach(), rtol=0, atol=0)


@given(widths=WIDTHS, classes=st.integers(1, 9), draw=st.data())
def test_a_new_head_fits_and_frozen_is_all_the_rest(widths, classes, draw):
    net = stack(widths)
    names = features.replace_head(net, classes)
    assert net(torch.randn(2, widths[0])).shape == (2, classes)
    frozen = features.freeze(net, keep=names[0])
    assert {name for name, p in net.named_parameters() if not p.requires_grad} == set(frozen)
    assert all(not name.startswith(names[0] + ".") for name in frozen)
    part = draw.draw(st.sampled_from([name for name, _ in net.named_children()]))
    features.unfreeze(net, part)
    assert all(p.requires_grad for p in net.get_submodule(part).parameters())


@given(widths=WIDTHS, rows=st.integers(1, 4))
def test_a_summary_counts_as_the_formula_does(widths, rows):
    table = profile.summary(stack(widths), torch.zeros(rows, widths[0]))
    pairs = list(itertools.pairwise(widths))
    assert table.parameters == sum(a * b + b for a, b in pairs)
    assert table.macs == rows * sum(a * b for a, b in pairs)
    graph = profile.trace_graph(stack(widths), torch.zeros(rows, widths[0]))
    assert [node.kind for node in graph.nodes] == ["input", *["layer"] * (2 * len(pairs)), "output"]
    assert graph.edges == [(n, n + 1) for n in range(2 * len(pairs) + 1)]


def test_an_empty_graph_is_an_empty_picture():
    assert profile.graph_svg(profile.Graph()).startswith("<svg")
    assert profile.graph_dot(profile.Graph()).startswith("digraph")


@given(widths=WIDTHS, kernel=st.integers(1, 3))
def test_fans_are_torchs_for_plain_layers(widths, kernel):
    for module in (nn.Linear(*widths[:2]), nn.Conv2d(*widths[:2], kernel), nn.Conv1d(*widths[:2], kernel)):
        assert init.fans(module) == nn.init._calculate_fan_in_and_fan_out(module.weight)


@given(widths=WIDTHS, linear=st.sampled_from(["xavier", "kaiming", "trunc"]), number=st.integers(0, 99))
def test_every_parameter_is_reported_once_and_a_generator_repeats_it(widths, linear, number):
    first, second = stack(widths), stack(widths)
    reports = [
        init.init_model_(net, linear=linear, generator=torch.Generator().manual_seed(number)) for net in (first, second)
    ]
    assert sorted([*reports[0].done, *reports[0].left]) == sorted(name for name, _ in first.named_parameters())
    assert reports[0] == reports[1]
    torch.testing.assert_close(first.state_dict(), second.state_dict(), rtol=0, atol=0)
    init.init_from_(second, **{name: torch.zeros_like(value) for name, value in first.named_parameters()})
    assert all(not bool(value.any()) for value in second.parameters())


@given(shape=SHAPES, channels=st.integers(1, 4), draw=st.integers(0, 99))
def test_a_frozen_norm_is_torchs_in_eval_mode(shape, channels, draw):
    generator = torch.Generator().manual_seed(draw)
    norm = {0: nn.BatchNorm1d, 1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[len(shape)](channels)
    for value in norm.state_dict().values():
        if value.is_floating_point():
            value.copy_(torch.rand(value.shape, generator=generator) + 0.1)
    x = torch.randn(2, channels, *shape, generator=generator)
    torch.testing.assert_close(layers.freeze_batch_norm(norm)(x), norm.eval()(x))


@given(shape=SHAPES.filter(len), channels=st.integers(1, 4), kind=st.sampled_from(["mean", "max", "gem"]))
def test_global_pooling_is_numpys(shape, channels, kind):
    x = torch.rand(2, channels, *shape) + 0.1
    flat = x.numpy().astype(np.float64).reshape(2, channels, -1)
    wanted = {"mean": flat.mean(2), "max": flat.max(2), "gem": np.cbrt((flat**3).mean(2))}[kind]
    np.testing.assert_allclose(layers.global_pool(x, kind).numpy(), wanted, rtol=1e-5)


# memory ----------------------------------------------------------------------------------------------------------------


@given(shape=SHAPES, kind=st.sampled_from([torch.float32, torch.int64, torch.bool]))
@settings(max_examples=5)  # each looks at every object there is
def test_a_live_tensor_is_listed_with_its_bytes_until_it_is_gone(shape, kind):
    keep = torch.zeros(91, *shape, dtype=kind)
    word = f"Tensor {tuple(keep.shape)} cpu"
    before = memory.tensor_census()[word]
    found = [
        one for one in memory.largest_tensors(10**6, "cpu") if one.shape == tuple(keep.shape) and one.dtype == kind
    ]
    assert keep.untyped_storage().nbytes() in [one.bytes for one in found]
    del keep
    assert memory.tensor_census().get(word, 0) == before - 1


# checkpoint, weights ---------------------------------------------------------------------------------------------------

NAMES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(".".join)
STATES = st.dictionaries(NAMES, SHAPES.map(torch.ones), min_size=1, max_size=5)


@given(state=STATES, prefix=st.sampled_from(["module.", "_orig_mod.", "module._orig_mod."]))
def test_prefixes_come_off_as_torch_takes_them_off(state, prefix):
    wrapped = {prefix + name: value for name, value in state.items()}
    theirs = dict(wrapped)
    nn.modules.utils.consume_prefix_in_state_dict_if_present(theirs, prefix)
    assert {weights.strip(name): value for name, value in wrapped.items()} == theirs
    found, words = weights.align(wrapped, state)
    assert found.keys() == state.keys()
    assert words
    assert weights.pick({"epoch": 3, "state_dict": wrapped}) == wrapped
    assert weights.align(state, state) == (state, "")


@given(states=STATES, others=st.integers(2, 4))
def test_an_average_is_the_mean_of_a_stack(states, others):
    copies = [{name: torch.randn_like(value) for name, value in states.items()} for _ in range(others)]
    found = checkpoint.average(copies)
    for name in states:
        torch.testing.assert_close(found[name], torch.stack([one[name] for one in copies]).mean(0))


@pytest.fixture
def saved(tmp_path):
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    path = checkpoint.save({"model": net.state_dict(), "epoch": 3}, tmp_path / "a.pt")
    return net, path


def test_any_format_gives_the_same_weights(saved, tmp_path):
    _net, path = saved
    safe = checkpoint.convert(path, tmp_path / "a.safetensors")
    theirs = torch.load(path, weights_only=True)["model"]
    torch.testing.assert_close(dict(theirs), checkpoint.weights(path), rtol=0, atol=0)
    torch.testing.assert_close(dict(theirs), checkpoint.weights(safe), rtol=0, atol=0)
    half = checkpoint.weights(checkpoint.convert(path, tmp_path / "b.pt", dtype="float16"))
    torch.testing.assert_close(half["0.weight"], theirs["0.weight"].half(), rtol=0, atol=0)
    assert half["1.num_batches_tracked"].dtype == torch.int64
    assert checkpoint.distance(path, safe) == {}


def test_the_distance_is_that_of_norms(saved, tmp_path):
    net, path = saved
    first = net[0].weight.detach().clone()
    with torch.no_grad():
        net[0].weight.mul_(2).add_(1)
    other = checkpoint.save({"model": net.state_dict()}, tmp_path / "b.pt")
    wanted = ((net[0].weight - first).norm() / first.norm()).item()
    assert checkpoint.distance(path, other) == {"0.weight": pytest.approx(wanted, rel=1e-5)}


def test_what_fits_is_found_under_the_models_names(saved):
    net, path = saved
    wrapped = {f"module.{name}": value for name, value in checkpoint.weights(path).items()}
    wrapped["module.0.bias"] = torch.zeros(9)
    found = checkpoint.match(wrapped, net)
    assert found.missing == ["0.bias"] or "0.bias" in str(found.misfits)
    fitting = checkpoint.fit(wrapped, net)
    assert fitting.keys() == net.state_dict().keys() - {"0.bias"}
    assert net.load_state_dict(fitting, strict=False).missing_keys == ["0.bias"]


def test_ailments_dangers_and_repair(saved, tmp_path):
    net, path = saved
    assert checkpoint.ailments(path) == []
    assert checkpoint.dangers(path) == []
    net[1].running_var.fill_(-1.0)
    net[0].weight.data[0, 0] = float("nan")
    said = " ".join(checkpoint.ailments(checkpoint.save({"model": net.state_dict()}, tmp_path / "b.pt")))
    assert "0.weight" in said
    assert "running_var" in said
    (tmp_path / "evil.pt").write_bytes(pickle.dumps(print))  # a pickle that names what it would call
    assert any("print" in line for line in checkpoint.dangers(tmp_path / "evil.pt"))
    checkpoint.verify(path)
    raw = bytearray(path.read_bytes())
    raw[raw.index(net[0].bias.detach().numpy().tobytes())] ^= 1
    (tmp_path / "bad.pt").write_bytes(raw)
    with pytest.raises(checkpoint.BrokenCheckpointError, match="checksum"):
        checkpoint.verify(tmp_path / "bad.pt")
    lost = checkpoint.repair(tmp_path / "bad.pt", tmp_path / "saved.pt")
    assert lost
    assert "0.bias" not in checkpoint.weights(tmp_path / "saved.pt")


# data, seed, metrics, tensors, optim -----------------------------------------------------------------------------------


def test_classes_and_pictures_are_torchvisions(tmp_path):
    for name in ("b/1.png", "b/deep/2.png", "a/3.jpg", "c/4.png", "c/note.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        tensors.to_pil(torch.rand(3, 4, 5)).save(tmp_path / name, "PNG") if name[-3:] != "txt" else (
            tmp_path / name
        ).touch()
    theirs = torchvision.datasets.ImageFolder(tmp_path)
    found, names = data.list_images(tmp_path)
    assert data.find_classes(tmp_path) == names == theirs.classes
    assert [(str(one.path), one.label) for one in found] == theirs.samples
    assert data.find_broken(one.path for one in found) == []
    (tmp_path / "b" / "1.png").write_bytes(b"\x89PNG")
    assert [one.path.name for one in data.find_broken((one.path for one in found), threads=2)] == ["1.png"]


@given(shapes=st.lists(SHAPES, max_size=4), workers=st.integers(0, 5), prefetch=st.integers(1, 4))
def test_bytes_are_added_up(shapes, workers, prefetch):
    batch = [torch.zeros(shape, dtype=torch.float16) for shape in shapes]
    size = data.batch_bytes({"a": batch, "b": "text"})
    assert size == sum(np.zeros(shape, np.float16).nbytes for shape in shapes)
    assert data.shared_memory_need(size, workers, prefetch) == sum([size] * (workers * prefetch + 2)) * (workers > 0)


@given(number=st.integers(0, 2**63 - 1))
def test_one_seed_sets_three_generators_and_a_block_draws_from_none(number):
    draws = []
    for _ in range(2):
        seed.seed_cpu(number)
        draws.append((random.random(), np.random.rand(), torch.rand(1).item()))  # noqa: NPY002  # the global one is meant
    assert draws[0] == draws[1]
    before = seed.rng_state()
    with seed.kept_rng():
        random.random(), np.random.rand(), torch.rand(1)  # noqa: NPY002  # as above
    after = seed.rng_state()
    assert before["python"]["numbers"].equal(after["python"]["numbers"])
    assert before["numpy"]["key"].equal(after["numpy"]["key"])
    assert before["numpy"]["pos"] == after["numpy"]["pos"]
    assert before["torch"].equal(after["torch"])


def test_determinism_goes_on_and_off():
    with seed.deterministic():  # puts every flag back
        seed.set_deterministic(warn_only=True)
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled()
        seed.set_deterministic(False)
        assert not torch.are_deterministic_algorithms_enabled()


@given(cells=st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3), k=st.integers(1, 4))
def test_the_most_confused_are_those_of_a_slow_loop(cells, k):
    slow = [
        sorted(((other, n) for other, n in enumerate(line) if other != c and n), key=lambda pair: -pair[1])[:k]
        for c, line in enumerate(cells)
    ]
    assert metrics.most_confused(torch.tensor(cells), k) == slow


@given(shape=SHAPES.filter(len), draw=st.data())
def test_memory_is_shared_where_numpy_says_so(shape, draw):
    x = torch.zeros(9, *shape)
    a, b = sorted(draw.draw(st.lists(st.integers(0, 9), min_size=2, max_size=2)))
    first, second = x[:a], x[b:] if draw.draw(st.booleans()) else x[a:]
    assert tensors.shares_memory(first, second) == np.shares_memory(first.numpy(), second.numpy())
    assert tensors.shares_memory(x, x[a:]) == np.shares_memory(x.numpy(), x[a:].numpy())
    assert not tensors.shares_memory(x, tensors.copy_of(x))


@given(widths=WIDTHS, decay=st.floats(0.1, 1.0), lr=st.floats(0.0, 1.0))
def test_groups_of_any_stack_hold_every_parameter_once(widths, decay, lr):
    net = stack(widths)
    for groups in (
        optim.decay_groups(net, 0.1),
        optim.layer_decay_groups(net, lr, decay, 0.1),
        optim.finetune_groups(net, str(len(net) - 2), lr, lr / 2),
    ):
        optim.check_groups(groups, net, torch.optim.AdamW)
        names = [name for group in groups for name in group["param_names"]]
        assert sorted(names) == sorted(optim.trainable(net))
    rates = [group["lr"] for group in optim.layer_decay_groups(net, lr, decay)]
    assert rates == sorted(rates)
    assert optim.layer_order(net) == [name for name, part in net.named_children() if isinstance(part, nn.Linear)]


@given(shape=SHAPES, factor=st.floats(0.001, 1.0))
def test_adaptive_clipping_is_the_slow_loop(shape, factor):
    weight = nn.Parameter(torch.randn(3, *shape))
    weight.grad = torch.randn(3, *shape)
    units = [slice(None)] if weight.ndim == 1 else range(3)
    wanted = weight.grad.clone()
    for unit in units:
        limit = max(weight[unit].norm().item(), 1e-3) * factor
        norm = wanted[unit].norm().item()
        wanted[unit] = wanted[unit] * min(1.0, limit / max(norm, 1e-6))
    optim.clip_adaptive([weight], factor)
    torch.testing.assert_close(weight.grad, wanted)


def test_vgg_names_are_those_of_its_blocks():
    parts = OrderedDict(features=nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3)))
    assert [features.vgg_layer(nn.Sequential(parts), name) for name in ("conv1_1", "relu1_1", "pool1", "conv2_1")] == [
        f"features.{number}" for number in range(4)
    ]
