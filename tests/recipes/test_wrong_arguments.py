"""Every argument of every recipe that takes no tensor, given something it cannot mean: what it was and what it needs.

`test_every_recipe.py` holds the tensor functions to the same. A recipe that is added without its row fails here.
"""

from __future__ import annotations

import inspect
import math
import re
import traceback
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from test_every_recipe import APART, PUBLIC, TABLE
from torch import nn

from torchlore.recipes import (
    augment,
    checkpoint,
    data,
    device,
    features,
    init,
    layers,
    losses,
    memory,
    metrics,
    optim,
    profile,
    schedules,
    seed,
    shapes,
    tensors,
    video,
    weights,
)

COUNT = (0, -1, 2.5, "3", None)  # no whole number from 1
NATURAL = (-1, 2.5, "3", None)  # nor from 0
INTEGER = (2.5, "3", None)
ABOVE_0 = (0, -1.0, math.nan, "1", None)
FROM_0 = (-1.0, math.nan, "1", None)
SHARE = (*FROM_0, 1.5)
WORD = ("no such word", 3, None)
NAME = (3, None)
MODULE = ("net", None, 3)
TENSOR = ([1.0], None)
LIST = (3, None)
GENERATOR = (3, "seed")
DEVICE = ("no-such-device", 2.5)
FREE = ()  # anything may stand here: a flag, what a user's model or transform takes
NOWHERE = Path("/nowhere/at/all")


class File:
    """A file that the fixture below makes."""

    def __init__(self, name):
        self.name = name


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))


def with_gradients():
    model = net()
    model(torch.ones(1, 2)).sum().backward()
    return list(model.parameters())


def optimizer():
    return torch.optim.SGD(net().parameters(), lr=0.1)


NET, ONES = net(), torch.ones(1, 2)
MATRIX, PLAN = torch.tensor([[3, 1], [2, 5]]), schedules.Cosine(10)
VGG = nn.Sequential(OrderedDict(features=nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())))
CHAIN = [shapes.Layer("conv", 3)]


def row(function, /, **values):
    """A function, and for each argument a value that is right followed by the tuple of those that are wrong."""
    return function, values


ROWS = {
    "augment.region_plan": row(
        augment.region_plan,
        batch=(2, NATURAL),
        blocks=(3, COUNT),
        neighbour=(2, FROM_0),
        generator=(None, GENERATOR),
        device=(None, DEVICE),
    ),
    "checkpoint.Checkpoints": row(
        checkpoint.Checkpoints, folder=(File("run"), (3, None)), mode=("min", WORD), keep=(2, COUNT)
    ),
    "checkpoint.ailments": row(checkpoint.ailments, path=(File("a.pt"), (NOWHERE, 3, None))),
    "checkpoint.atomic": row(lambda path: checkpoint.atomic(path).__enter__(), path=(File("new"), (3, None))),
    "checkpoint.average": row(
        checkpoint.average,
        states=([{"w": ONES}, {"w": ONES}], ([], [{"w": ONES}], [{"w": ONES}, {"v": ONES}], ["w", "v"], None)),
    ),
    "checkpoint.collect": row(lambda parts: checkpoint.collect(**parts), parts=({"model": NET}, ({"rng": 3},))),
    "checkpoint.convert": row(
        checkpoint.convert,
        source=(File("a.pt"), (NOWHERE, 3)),
        target=(File("b.pt"), (3, None)),
        dtype=(None, ("float17", 3)),
        group=(None, ("no such group",)),
        strip=(True, FREE),
    ),
    "checkpoint.dangers": row(checkpoint.dangers, path=(File("a.pt"), (NOWHERE, 3, None))),
    "checkpoint.distance": row(
        checkpoint.distance, first=(File("a.pt"), (NOWHERE, 3)), second=(File("a.pt"), (NOWHERE, 3))
    ),
    "checkpoint.fit": row(checkpoint.fit, state=({"w": ONES}, ("w", {"w": 3}, None)), model=(NET, MODULE)),
    "checkpoint.load": row(
        checkpoint.load, path=(File("a.pt"), (NOWHERE, 3, None)), map_location=("cpu", DEVICE), check=(True, FREE)
    ),
    "checkpoint.match": row(checkpoint.match, state=({"w": ONES}, ("w", {"w": 3}, None)), model=(NET, MODULE)),
    "checkpoint.plain": row(checkpoint.plain, value=(3, ({1}, net, [ONES, {1}])), where=("value", FREE)),
    "checkpoint.repair": row(checkpoint.repair, source=(File("a.pt"), (NOWHERE, 3)), target=(File("b.pt"), (3, None))),
    "checkpoint.restore": row(
        lambda state, parts: checkpoint.restore(state, **parts),
        state=(checkpoint.collect(model=NET), ({}, "state", None)),
        parts=({"model": NET}, ({"other": NET}, {"model": 3})),
    ),
    "checkpoint.save": row(
        checkpoint.save, state=({"w": ONES}, ({"w": {1}}, "w", None)), path=(File("c.pt"), (3, None))
    ),
    "checkpoint.verify": row(checkpoint.verify, path=(File("a.pt"), (NOWHERE, 3, None))),
    "checkpoint.weights": row(
        checkpoint.weights, path=(File("a.pt"), (NOWHERE, 3, None)), group=(None, ("no such group", 3))
    ),
    "data.BalancedSampler": row(
        data.BalancedSampler, labels=([0, 1], ([], [0.5], ["a"], None)), seed=(0, INTEGER), count=(None, COUNT[:4])
    ),
    "data.EpochBatches": row(
        data.EpochBatches,
        count=(8, COUNT),
        batch_size=(2, COUNT),
        seed=(0, INTEGER),
        shuffle=(True, FREE),
        drop_last=(False, FREE),
        rank=(0, (-1, 1, "0", None)),
        world=(1, COUNT),
    ),
    "data.H5Dataset": row(
        data.H5Dataset,
        path=(File("a.h5"), (NOWHERE, File("a.pt"), 3, None)),
        fields=(None, (["no such field"], [], 3)),
        transform=(None, ("flip", 3)),
    ),
    "data.ImageFolder": row(
        data.ImageFolder,
        root=(File("pictures"), (NOWHERE, File("a.pt"), 3, None)),
        transform=(None, ("flip", 3)),
        classes=(None, (["cat"], [], 3)),
        broken=("raise", WORD),
        follow_links=(False, FREE),
        most_pixels=(100, COUNT),
    ),
    "data.PKBatches": row(
        data.PKBatches,
        labels=([0, 1], ([], [0.5], ["a"], None)),
        classes=(2, (*COUNT, 3)),
        samples=(2, COUNT),
        seed=(0, INTEGER),
        batches=(None, COUNT[:4]),
    ),
    "data.PackedStrings": row(data.PackedStrings, texts=(["a"], ([3], 3, None))),
    "data.Seeded": row(data.Seeded, dataset=([1, 2], (3, None)), seed=(0, INTEGER)),
    "data.batch_bytes": row(data.batch_bytes, batch=(ONES, FREE)),
    "data.cpus": row(data.cpus, cgroup=("/sys/fs/cgroup", (3, None))),
    "data.decode_image": row(
        data.decode_image,
        source=(File("pictures/cat/1.png"), (NOWHERE, 3, None)),
        most_pixels=(100, COUNT),
        background=(255, (-1, 256, 0.5, "white", None)),
    ),
    "data.find_broken": row(
        data.find_broken, paths=([], (3, [3], None)), most_pixels=(100, COUNT), threads=(1, COUNT[:4])
    ),
    "data.find_classes": row(data.find_classes, root=(File("pictures"), (NOWHERE, File("empty"), 3, None))),
    "data.list_images": row(
        data.list_images,
        root=(File("pictures"), (NOWHERE, File("empty"), 3, None)),
        classes=(None, (["cat"], 3)),
        follow_links=(False, FREE),
        suffixes=((".png",), ((".xyz",), (), 3)),
    ),
    "data.loader_options": row(
        data.loader_options,
        batch=(None, FREE),
        workers=(0, NATURAL[:3]),
        ranks=(1, COUNT),
        device=("cpu", DEVICE),
        most_workers=(16, NATURAL),
    ),
    "data.permutation": row(data.permutation, count=(5, NATURAL), seed=(0, INTEGER), epoch=(0, INTEGER)),
    "data.shard": row(data.shard, count=(5, NATURAL), rank=(0, (-1, 1, "0", None)), world=(1, COUNT)),
    "data.shared_memory": row(data.shared_memory, folder=("/dev/shm", (3, None))),
    "data.shared_memory_need": row(
        data.shared_memory_need, size=(5, NATURAL), workers=(2, NATURAL), prefetch=(2, COUNT)
    ),
    "device.best_device": row(device.best_device),
    "device.map_tensors": row(device.map_tensors, value=(ONES, FREE), function=(torch.neg, ("neg", None))),
    "device.move": row(device.move, batch=(ONES, FREE), device=("cpu", (*DEVICE, None)), non_blocking=(True, FREE)),
    "device.unwrap": row(device.unwrap, model=(NET, MODULE)),
    "features.Extractor": row(
        features.Extractor, model=(NET, MODULE), layers=("0", ("nought", [], ["0", "nought"], 3)), grad=(False, FREE)
    ),
    "features.embed": row(
        lambda model, inputs, grad: features.embed(model, *inputs, grad=grad),
        model=(NET, (*MODULE, nn.ReLU())),
        inputs=([ONES], FREE),
        grad=(False, FREE),
    ),
    "features.extract": row(
        lambda model, layers, inputs, grad, training, whole, options: features.extract(
            model, layers, *inputs, grad=grad, training=training, whole=whole, **options
        ),
        model=(NET, MODULE),
        layers=("0", ("nought", "0:first", [], ["0", "nought"], 3, None)),
        inputs=([ONES], FREE),
        grad=(False, FREE),
        training=(False, FREE),
        whole=(False, FREE),
        options=({}, FREE),
    ),
    "features.find_heads": row(features.find_heads, model=(NET, (*MODULE, nn.ReLU()))),
    "features.freeze": row(features.freeze, model=(NET, MODULE), keep=((), (["nought"], "nought", 3, None))),
    "features.replace_head": row(features.replace_head, model=(NET, (*MODULE, nn.ReLU())), classes=(2, COUNT)),
    "features.unfreeze": row(features.unfreeze, model=(NET, MODULE), layers=("", (["nought"], "nought", 3, None))),
    "features.vgg_layer": row(features.vgg_layer, model=(VGG, (*MODULE, NET)), name=("conv1_1", ("conv9_9", 3, None))),
    "init.fans": row(init.fans, module=(nn.Linear(2, 3), (*MODULE, nn.ReLU(), nn.BatchNorm1d(2)))),
    "init.init_from_": row(
        lambda module, tensors: init.init_from_(module, **tensors),
        module=(nn.Linear(2, 1), MODULE),
        tensors=({"weight": ONES}, ({"wait": ONES}, {"weight": torch.ones(3)}, {"weight": [[1.0, 1.0]]})),
    ),
    "init.init_model_": row(
        init.init_model_, model=(NET, MODULE), linear=("xavier", WORD), generator=(None, GENERATOR)
    ),
    "init.zero_residual_": row(init.zero_residual_, model=(NET, (*MODULE, nn.ReLU()))),
    "layers.freeze_batch_norm": row(
        layers.freeze_batch_norm, model=(NET, (*MODULE, nn.BatchNorm1d(2, track_running_stats=False)))
    ),
    "layers.to_sync_batch_norm": row(layers.to_sync_batch_norm, model=(NET, MODULE), process_group=(None, ("gloo", 3))),
    "losses.add_l1_gradient_": row(
        losses.add_l1_gradient_,
        parameters=(with_gradients(), ([], [3.0], 3, None)),
        strength=(0.1, FROM_0),
        only_weights=(True, FREE),
    ),
    "losses.convert_epsilon": row(
        losses.convert_epsilon, epsilon=(0.1, SHARE), num_classes=(5, (*COUNT, 1)), to=("all", WORD)
    ),
    "losses.class_weights": row(
        losses.class_weights,
        counts=([3, 1], ([], [0, 0], [-1, 2], [[1, 2]], ["a"], 3, None)),
        scheme=("effective", WORD),
        beta=(0.9, (*FROM_0, 1.0)),
    ),
    "losses.shrink_": row(
        losses.shrink_,
        parameters=(with_gradients(), ([], [3.0], 3, None)),
        amount=(0.1, FROM_0),
        only_weights=(True, FREE),
    ),
    "memory.device_memory": row(memory.device_memory, device=("cuda", ("cuda",))),
    "memory.largest_tensors": row(
        lambda most, device, models: memory.largest_tensors(most, device, *models),
        most=(2, COUNT),
        device=(None, DEVICE),
        models=([NET], (["net"], [3])),
    ),
    "memory.measure_memory": row(memory.measure_memory, title=("", FREE), show=(True, FREE)),
    "memory.rss": row(memory.rss),
    "memory.tensor_census": row(memory.tensor_census),
    "metrics.ConfusionMatrix": row(
        metrics.ConfusionMatrix, num_classes=(2, COUNT), ignore_index=(None, (2.5, "3")), device=(None, DEVICE)
    ),
    "metrics.most_confused": row(metrics.most_confused, matrix=(MATRIX, (*TENSOR, MATRIX[:1])), k=(2, COUNT)),
    "metrics.report_rows": row(
        metrics.report_rows, matrix=(MATRIX, (*TENSOR, MATRIX[:1])), names=(None, (["one"], 3)), k=(2, COUNT)
    ),
    "metrics.write_report": row(
        metrics.write_report,
        path=(File("report.csv"), (3, None)),
        matrix=(MATRIX, (*TENSOR, MATRIX[:1])),
        names=(None, (["one"], 3)),
        k=(2, COUNT),
    ),
    "optim.EMA": row(
        optim.EMA, model=(NET, MODULE), decay=(0.9, (*SHARE, 1.0)), warmup=(False, FREE), average_buffers=(False, FREE)
    ),
    "optim.check_groups": row(
        optim.check_groups,
        groups=(optim.decay_groups(NET, 0.1), ([{"lr": 1}], [3], 3, None)),
        model=(NET, MODULE),
        optimizer=(torch.optim.SGD, ("sgd", 3, None)),
    ),
    "optim.clip_adaptive": row(
        optim.clip_adaptive,
        parameters=(with_gradients(), ([], [ONES], [3.0], 3, None)),
        factor=(0.1, ABOVE_0),
        least=(1e-3, ABOVE_0),
    ),
    "optim.clip_norm": row(
        optim.clip_norm,
        parameters=(with_gradients(), ([], [ONES], [3.0], 3, None)),
        max_norm=(1.0, ABOVE_0),
        nonfinite=("raise", WORD),
        scaler=(None, FREE),
        optimizer=(None, ("sgd",)),
    ),
    "optim.clip_value": row(
        optim.clip_value, parameters=(with_gradients(), ([], [ONES], [3.0], 3, None)), limit=(1.0, ABOVE_0)
    ),
    "optim.decay_groups": row(
        optim.decay_groups,
        model=(NET, (*MODULE, nn.ReLU())),
        weight_decay=(0.1, FROM_0),
        skip=((), (["nought"], "nought", 3, None)),
    ),
    "optim.decays": row(optim.decays, model=(NET, (*MODULE, nn.ReLU()))),
    "optim.finetune_groups": row(
        optim.finetune_groups,
        model=(NET, (*MODULE, nn.ReLU())),
        head=("2", ("nought", [], 3, None)),
        lr=(0.1, FROM_0),
        backbone_lr=(0.1, FROM_0),
        weight_decay=(0.0, FROM_0),
    ),
    "optim.layer_decay_groups": row(
        optim.layer_decay_groups,
        model=(NET, (*MODULE, nn.ReLU())),
        lr=(0.1, FROM_0),
        decay=(0.9, (*ABOVE_0, 1.5)),
        weight_decay=(0.0, FROM_0),
        layers=(None, (["nought"], ["0.weight"], 3)),
    ),
    "optim.layer_order": row(optim.layer_order, model=(NET, MODULE)),
    "optim.load_optimizer": row(
        optim.load_optimizer,
        optimizer=(optimizer(), ("sgd", None)),
        state=(optimizer().state_dict(), ({}, {"param_groups": [], "state": {}}, "state", None)),
    ),
    "optim.rate_groups": row(
        optim.rate_groups,
        model=(NET, (*MODULE, nn.ReLU())),
        rates=({"0": 0.1}, ({"nought": 0.1}, {"0": -1.0}, {"0": "1"}, ["0"], None)),
        lr=(0.1, FROM_0),
        weight_decay=(0.0, FROM_0),
    ),
    "optim.trainable": row(optim.trainable, model=(NET, (*MODULE, nn.ReLU()))),
    "profile.graph_dot": row(profile.graph_dot, graph=(profile.Graph(), ("graph", NET, None))),
    "profile.graph_svg": row(profile.graph_svg, graph=(profile.Graph(), ("graph", NET, None))),
    "profile.profile_modules": row(
        lambda model, inputs, backward, repeat, warmup, options: profile.profile_modules(
            model, *inputs, backward=backward, repeat=repeat, warmup=warmup, **options
        ),
        model=(NET, MODULE),
        inputs=([ONES], FREE),
        backward=(True, FREE),
        repeat=(1, COUNT),
        warmup=(0, NATURAL),
        options=({}, FREE),
    ),
    "profile.summary": row(
        lambda model, inputs, options: profile.summary(model, *inputs, **options),
        model=(NET, MODULE),
        inputs=([ONES], FREE),
        options=({}, FREE),
    ),
    "profile.trace_graph": row(
        lambda model, inputs, depth, options: profile.trace_graph(model, *inputs, depth=depth, **options),
        model=(NET, MODULE),
        inputs=([ONES], FREE),
        depth=(None, COUNT[:4]),
        options=({}, FREE),
    ),
    "schedules.Constant": row(schedules.Constant, factor=(1.0, FROM_0)),
    "schedules.Cosine": row(schedules.Cosine, total=(9, ABOVE_0), end=(0.0, SHARE)),
    "schedules.Epochs": row(
        schedules.Epochs, schedule=(PLAN, (3, None)), steps_per_epoch=(3, COUNT), smooth=(False, FREE)
    ),
    "schedules.MultiStep": row(
        schedules.MultiStep, milestones=((1, 2), ((2, 1), (0,), ("1",), 3, None)), gamma=(0.1, ABOVE_0)
    ),
    "schedules.OneCycle": row(
        schedules.OneCycle, total=(9, COUNT), rise=(0.3, (*ABOVE_0, 1.0)), start=(0.1, SHARE), end=(0.1, SHARE)
    ),
    "schedules.Plateau": row(
        schedules.Plateau,
        mode=("min", WORD),
        gamma=(0.1, (*ABOVE_0, 1.0)),
        patience=(3, NATURAL),
        threshold=(1e-4, FROM_0),
        cooldown=(0, NATURAL),
        least=(0.0, SHARE),
    ),
    "schedules.Polynomial": row(schedules.Polynomial, total=(9, ABOVE_0), power=(1.0, ABOVE_0), end=(0.0, SHARE)),
    "schedules.ScheduleLR": row(
        schedules.ScheduleLR,
        optimizer=(optimizer(), ("sgd", None)),
        schedule=(PLAN, ([PLAN, PLAN], [3], 3, None)),
        per=("step", WORD),
        steps_per_epoch=(None, COUNT[:4]),
        plateau=(None, (3, "min")),
    ),
    "schedules.Step": row(schedules.Step, size=(2, COUNT), gamma=(0.1, ABOVE_0)),
    "schedules.Warmup": row(
        schedules.Warmup,
        after=(PLAN, (3, None)),
        steps=(3, NATURAL),
        kind=("linear", WORD),
        start=(0.5, (0.0, -1.0, 1.5, math.nan, "1")),
        rung=(1, COUNT),
        shift=(False, FREE),
    ),
    "schedules.apply": row(
        schedules.apply,
        schedule=(PLAN, (3, None)),
        optimizer=(optimizer(), ("sgd", None)),
        time=(0, (-1, math.nan, "3", None)),
        scale=(1.0, FROM_0),
    ),
    "schedules.plot": row(
        schedules.plot,
        schedules=(PLAN, ({}, {"a": 3}, 3, None)),
        steps=(5, COUNT),
        rate=(1.0, FROM_0),
        unit=("step", FREE),
    ),
    "schedules.values": row(schedules.values, schedule=(PLAN, (3, None)), steps=(5, NATURAL), rate=(1.0, FROM_0)),
    "seed.derive": row(
        lambda seed_, parts: seed.derive(seed_, *parts), seed_=(0, INTEGER), parts=(["order"], ([2.5], [None]))
    ),
    "seed.deterministic": row(seed.deterministic, warn_only=(False, FREE)),
    "seed.kept_rng": row(seed.kept_rng),
    "seed.restore_rng": row(seed.restore_rng, state=(seed.rng_state(), ({}, {"torch": 3}, "state", None))),
    "seed.rng_state": row(seed.rng_state),
    "seed.seed_cpu": row(seed.seed_cpu, seed=(0, INTEGER)),
    "seed.seed_everything": row(seed.seed_everything, seed=(0, (-1, 2**63, *INTEGER)), rank=(0, NATURAL)),
    "seed.seeded": row(lambda seed_: seed.seeded(seed_).__enter__(), seed_=(0, INTEGER)),
    "seed.set_deterministic": row(seed.set_deterministic, on=(False, FREE), warn_only=(False, FREE)),
    "seed.worker_init": row(seed.worker_init, worker_id=(0, INTEGER)),
    "shapes.Layer": row(
        shapes.Layer,
        kind=("conv", WORD),
        kernel=(3, COUNT),
        stride=(1, COUNT),
        padding=(0, NATURAL),
        dilation=(1, COUNT),
        output_padding=(0, NATURAL),
        ceil_mode=(False, FREE),
        name=("", FREE),
    ),
    "shapes.adaptive_bins": row(shapes.adaptive_bins, size=(9, COUNT), output=(3, COUNT)),
    "shapes.chain": row(shapes.chain, size=(9, COUNT), layers=(CHAIN, (["conv k3"], NET, 3, None))),
    "shapes.conv_size": row(
        shapes.conv_size,
        size=(9, (*COUNT, (9, 9))),
        kernel=(3, (*COUNT, (3, 3), 99)),
        stride=(1, COUNT),
        padding=(0, NATURAL),
        dilation=(1, COUNT),
    ),
    "shapes.conv_transpose_size": row(
        shapes.conv_transpose_size,
        size=(9, COUNT),
        kernel=(3, COUNT),
        stride=(2, COUNT),
        padding=(0, (*NATURAL, 99)),
        dilation=(1, COUNT),
        output_padding=(0, (*NATURAL, 2)),
    ),
    "shapes.layers_of": row(shapes.layers_of, model=(NET, MODULE), side=(-1, (0, -3, "width", None))),
    "shapes.parse_layer": row(shapes.parse_layer, text=("conv k3", ("", "conv", "dense k3", "conv k3 q1", 3, None))),
    "shapes.pool_size": row(
        shapes.pool_size,
        size=(9, COUNT),
        kernel=(3, COUNT),
        stride=(1, COUNT[:4]),
        padding=(0, (*NATURAL, 2)),
        dilation=(1, COUNT),
        ceil_mode=(False, FREE),
    ),
    "shapes.receptive_field": row(
        shapes.receptive_field, layers=(CHAIN, (["conv k3"], [shapes.Layer("transpose", 2)], NET, 3, None))
    ),
    "shapes.same_padding": row(
        shapes.same_padding, size=(9, COUNT), kernel=(3, COUNT), stride=(1, COUNT), dilation=(1, COUNT)
    ),
    "shapes.sources": row(
        shapes.sources, size=(9, COUNT), layers=(CHAIN, (["conv k3"], NET, 3, None)), index=(0, (*NATURAL, 99))
    ),
    "tensors.array_to_pil": row(
        tensors.array_to_pil, array=(torch.zeros(2, 2).numpy(), (torch.zeros(2, 2, 7).numpy(), ONES, [[1]], None))
    ),
    "tensors.from_numpy": row(
        tensors.from_numpy, array=(ONES.numpy(), (ONES, [1], None)), dtype=(None, ("float32", 3)), copy=(True, FREE)
    ),
    "tensors.from_pil": row(
        tensors.from_pil,
        image=(tensors.to_pil(torch.zeros(2, 2)), (ONES, "a.png", None)),
        mode=("RGB", ("RGBQ", 3)),
        dtype=(torch.float32, ("float32", 3, None)),
        exif=(True, FREE),
    ),
    "tensors.pil_to_array": row(
        tensors.pil_to_array,
        image=(tensors.to_pil(torch.zeros(2, 2)), (ONES, "a.png", None)),
        mode=("RGB", ("RGBQ", 3)),
        exif=(True, FREE),
    ),
    "video.clip_indices": row(
        video.clip_indices,
        frames=(9, COUNT),
        length=(3, COUNT),
        stride=(1, COUNT),
        clips=(1, COUNT),
        generator=(None, GENERATOR),
    ),
    "video.indices_at": row(
        video.indices_at, times=([0.0, 1.0], ([], [1.0, 0.0], 3, None)), seconds=([0.5], ([-1.0], [math.nan], 3, None))
    ),
    "video.probe": row(video.probe, path=(File("a.mp4"), (NOWHERE, File("a.pt"), 3, None))),
    "video.read_frames": row(
        video.read_frames,
        path=(File("a.mp4"), (NOWHERE, File("a.pt"), 3, None)),
        indices=([0], ([], [99], [-99], [0.5], 3, None)),
        short=("raise", WORD),
        side=(0, NATURAL),
    ),
    "video.readable": row(video.readable, path=(File("a.mp4"), (NOWHERE, File("a.pt"), 3, None))),
    "video.segment_indices": row(
        video.segment_indices, frames=(9, COUNT), segments=(3, COUNT), generator=(None, GENERATOR)
    ),
    "weights.align": row(weights.align, state=({"w": 1}, ("w", None)), wanted=({"w": 1}, ("w", None))),
    "weights.load_into": row(
        weights.load_into,
        model=(NET, MODULE),
        source=(NET.state_dict(), ({"w": ONES}, NOWHERE, 3, None)),
        ema=(False, (True,)),
        partial=(False, FREE),
        skip=((), ("nought", ("nought",), 3, None)),
    ),
    "weights.pick": row(weights.pick, loaded=({"w": ONES}, ({}, {"epoch": 3}, "w", None)), ema=(False, (True,))),
    "weights.read": row(
        weights.read, path=(File("a.pt"), (NOWHERE, 3, None)), device=("cpu", DEVICE), check=(True, FREE)
    ),
    "weights.strip": row(weights.strip, name=("a.b", (3, None)), words=(("a",), ("a", 3, None))),
    "weights.write": row(
        lambda state, path, metadata: weights.write(state, path, **metadata),
        state=({"w": ONES}, ({"w": 3}, "w", None)),
        path=(File("d.safetensors"), (3, None)),
        metadata=({}, ({"epoch": 3},)),
    ),
}

TENSORS = {name for name in APART if name not in ROWS}

# What recipes give back and what they raise: nobody calls these with arguments of his own.
GIVEN_BACK = {
    "augment": "Mixed",
    "checkpoint": "BrokenCheckpointError Found Stateful",
    "data": "Broken BrokenImageError Sample",
    "init": "Report",
    "memory": "DeviceMemory Live Usage",
    "metrics": "Calibration Retrieval Scores",
    "profile": "Cost Costs Graph GraphNode Row Summary",
    "schedules": "Schedule",
    "shapes": "Stage",
    "tensors": "Nearest",
    "video": "BrokenVideoError Readable VideoInfo",
    "weights": "Report",
}
CALLS = [(name, argument) for name, (_, values) in ROWS.items() for argument in values if values[argument][1]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    import h5py

    root = tmp_path_factory.mktemp("files")
    for kind in ("cat", "dog"):
        (root / "pictures" / kind).mkdir(parents=True)
        tensors.to_pil(torch.zeros(3, 4, 4)).save(root / "pictures" / kind / "1.png")
    (root / "empty").mkdir()
    torch.save({"w": ONES}, root / "a.pt")
    with h5py.File(root / "a.h5", "w") as file:
        file["data"] = [1, 2, 3]
    video._example(frames=3).rename(root / "a.mp4")
    return root


def made(value, folder):
    return folder / value.name if isinstance(value, File) else value


def shown(value):
    """How a message may tell what it got: the value, its type, its shape, or one thing that it holds."""
    inside = (
        [*value.values(), *value]
        if isinstance(value, dict)
        else value
        if isinstance(value, (list, tuple, nn.Sequential))
        else []
    )
    shape = [str(tuple(value.shape))] if "shape" in dir(value) else []
    words = ["empty", "nothing"] if isinstance(value, (list, tuple, dict, str, bytes)) and not value else []
    return [
        str(value),
        repr(value),
        type(value).__name__,
        *shape,
        *words,
        *(one for part in inside for one in shown(part)),
    ]


@pytest.mark.parametrize(("name", "argument"), CALLS)
def test_a_wrong_argument_is_refused_by_name(name, argument, folder):
    function, values = ROWS[name]
    right = {key: made(value, folder) for key, (value, _) in values.items()}
    for wrong in values[argument][1]:
        value = made(wrong, folder)
        with pytest.raises((ValueError, TypeError, IndexError, KeyError, OSError, RuntimeError)) as caught:
            function(**right | {argument: value})
        message, where = str(caught.value), traceback.extract_tb(caught.tb)[-1].filename
        assert "torchlore" in where, f"raised by {where}: {message}"
        its_own_name = isinstance(value, Path) and str(value) in message
        word = argument.rstrip("_").rstrip("s")
        assert its_own_name or re.search(rf"\b{word}", message), f"{argument} is not named: {message}"
        assert any(text in message for text in shown(value)), f"what it got is not said: {message}"


def test_every_recipe_has_its_row_with_every_argument():
    given_back = {f"{module}.{name}" for module, names in GIVEN_BACK.items() for name in names.split()}
    assert set(PUBLIC) - TABLE.keys() - ROWS.keys() - given_back - TENSORS == set()
    for name, (_, values) in ROWS.items():
        arguments = inspect.signature(PUBLIC[name]).parameters
        assert {key.rstrip("_") if key == "seed_" else key for key in values} == set(arguments) - {"init"}, name
