import collections
import dataclasses
from typing import NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_sequence

from torchlore.recipes import device


class Pair(NamedTuple):
    picture: torch.Tensor
    name: str


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor
    ids: list
    length: int = dataclasses.field(init=False, default=3)


class Own(dict):
    pass


def test_the_best_device_works():
    assert torch.ones(2, device=device.best_device()).sum() == 2


def test_every_kind_of_container_is_moved_and_keeps_its_type():
    t = torch.ones(2)
    own = Own(x=t)
    own.note = "kept"
    batch = {
        "tensor": t,
        "pair": Pair(t, "a"),
        "data": Frozen(t, [t, "b"]),
        "ordered": collections.OrderedDict(x=t),
        "default": collections.defaultdict(list, x=t),
        "own": own,
        "nested": [(t, None), {"deep": {"er": t}}],
        "packed": pack_sequence([torch.ones(3, 2), torch.ones(1, 2)]),
        "text": "c",
    }
    moved = device.move(batch, "meta")
    assert moved["pair"].picture.device.type == "meta"
    assert type(moved["pair"]) is Pair
    assert moved["data"].x.device.type == moved["data"].ids[0].device.type == "meta"
    assert (moved["data"].ids[1], moved["data"].length) == ("b", 3)
    assert type(moved["ordered"]) is collections.OrderedDict
    assert moved["default"]["absent"] == []
    assert (type(moved["own"]), moved["own"].note, moved["own"]["x"].device.type) == (Own, "kept", "meta")
    assert moved["nested"][1]["deep"]["er"].device.type == "meta"
    assert moved["nested"][0][1] is None
    assert moved["packed"].data.device.type == "meta"
    assert moved["packed"].batch_sizes.device.type == "cpu"
    assert moved["text"] == "c"
    assert t.device.type == batch["data"].x.device.type == "cpu"


def test_a_tensor_that_occurs_twice_stays_shared():
    t = torch.ones(2)
    moved = device.move([t, {"again": t}], "meta")
    assert moved[0] is moved[1]["again"]


LEAVES = st.just("text") | st.integers() | st.none() | st.builds(torch.ones, st.integers(0, 3))
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.builds(lambda a: Pair(a, "n"), inner)
    ),
    max_leaves=12,
)


def shape_of(value):
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, dict):
        return {key: shape_of(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return (type(value), [shape_of(one) for one in value])
    return value


@given(TREES)
@settings(deadline=None, max_examples=100)
def test_any_tree_keeps_its_shape(tree):
    moved = device.move(tree, "meta")
    assert shape_of(moved) == shape_of(tree)
    seen = []
    device.map_tensors(moved, lambda leaf: seen.append(leaf.device.type))
    assert set(seen) <= {"meta"}


def test_a_copy_to_the_cpu_waits(monkeypatch):
    asked = []
    original = torch.Tensor.to

    def spy(self, *args, **kwargs):
        asked.append(kwargs.get("non_blocking", False))
        return original(self, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "to", spy)
    device.move(torch.ones(1), "cpu")
    device.move(torch.ones(1), "meta")
    device.move(torch.ones(1), "meta", non_blocking=False)
    assert asked == [False, True, False]


def test_unwrap_goes_through_every_wrapper_in_any_order():
    inner = nn.Linear(2, 2)
    assert device.unwrap(inner) is inner
    assert device.unwrap(nn.DataParallel(inner)) is inner
    assert device.unwrap(torch.compile(nn.DataParallel(inner))) is inner
    assert device.unwrap(nn.DataParallel(torch.compile(inner))) is inner


def test_unwrap_goes_through_ddp_and_leaves_fsdp2_alone(tmp_path):
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard

    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        inner = nn.Linear(2, 2)
        assert device.unwrap(torch.compile(nn.parallel.DistributedDataParallel(inner))) is inner
        sharded = nn.Linear(2, 2)
        fully_shard(sharded, mesh=torch.distributed.device_mesh.init_device_mesh("cpu", (1,)))
        assert device.unwrap(sharded) is sharded
    finally:
        dist.destroy_process_group()


def test_a_model_that_calls_its_own_part_module_is_left_alone():
    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.module = nn.Linear(1, 1)

    mine = Mine()
    assert device.unwrap(mine) is mine


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_pinned_batch_arrives_on_the_gpu():
    moved = device.move({"x": torch.arange(5).pin_memory()}, "cuda")
    assert moved["x"].sum().item() == 10
