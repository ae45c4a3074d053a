import mmap
import time

import pytest
import torch
from torch import nn

from torchlore.recipes import memory


def test_the_largest_tensors_are_named_once_each():
    model = nn.Linear(700, 1100)
    model.register_buffer("mean", torch.zeros(900_001))
    model(torch.randn(2, 700)).sum().backward()
    views = [model.mean[:10], model.mean[1:]]
    rows = memory.largest_tensors(400, "cpu", model)
    named = {(row.kind, row.name): row for row in rows}
    assert named["parameter", "weight"].bytes == 700 * 1100 * 4
    assert named["gradient of", "weight"].bytes == 700 * 1100 * 4
    assert named["buffer", "mean"].bytes == 900_001 * 4
    assert named["buffer", "mean"].tensors >= 1 + len(views)
    assert [row.bytes for row in rows] == sorted((row.bytes for row in rows), reverse=True)
    assert "parameter weight  (1100, 700) torch.float32 cpu" in str(named["parameter", "weight"])


def test_a_tensor_that_is_gone_is_not_listed_and_one_with_a_history_is_an_activation():
    big = torch.randn(777, 777, requires_grad=True) * 2
    shapes = {(row.shape, row.kind) for row in memory.largest_tensors(500)}
    assert ((777, 777), "activation") in shapes
    del big
    assert (777, 777) not in {row.shape for row in memory.largest_tensors(500)}
    assert memory.largest_tensors(5, "cuda") == [] or torch.cuda.is_available()


def fresh(mebibytes):
    """Memory straight from the system: malloc may hand out what an earlier test gave back."""
    area = mmap.mmap(-1, mebibytes << 20)
    for page in range(0, len(area), mmap.PAGESIZE):
        area[page] = 1
    return area


def test_the_peak_and_the_growth_of_a_block(capsys):
    keep = []
    with memory.measure_memory("step") as usage:
        temporary = fresh(90)
        keep.append(fresh(60))
        temporary.close()
    assert usage.peak - usage.start >= 140 * memory.MIB
    assert 50 * memory.MIB <= usage.growth <= 100 * memory.MIB
    printed = capsys.readouterr().out
    assert printed.startswith("step: CPU peak +")
    assert "growth +" in printed


def test_the_block_may_be_silent_and_may_raise(capsys):
    with memory.measure_memory(show=False):
        pass
    with pytest.raises(KeyError), memory.measure_memory():
        raise KeyError
    assert capsys.readouterr().out == ""


def test_looking_often_also_finds_the_peak(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise PermissionError

    monkeypatch.setattr(memory.Path, "write_text", refuse)
    start = memory.rss()
    with memory._peak() as highest:
        temporary = fresh(90)
        deadline = time.monotonic() + 10
        while highest[0] - start < 80 * memory.MIB and time.monotonic() < deadline:
            time.sleep(0.01)
        temporary.close()
    assert highest[0] - start > 80 * memory.MIB


def test_the_counters_of_a_device_are_explained():
    text = str(memory.DeviceMemory(3 << 20, 22 << 20, 5 << 20, 22 << 20, 900 << 20, 1000 << 20))
    assert "19.0 MiB  kept" in text
    assert "78.0 MiB  outside" in text
    assert "memory_reserved" in text


def test_the_device_must_exist():
    if torch.cuda.is_available():
        held = torch.ones(1 << 20, device="cuda")
        found = memory.device_memory()
        assert found.allocated >= held.nbytes
        assert found.reserved >= found.allocated
    else:
        with pytest.raises(RuntimeError, match="must be a CUDA device"):
            memory.device_memory()


def test_the_census_shows_what_a_step_leaves_behind():
    before = memory.tensor_census()
    kept = [torch.zeros(13, 17) for _ in range(3)]
    after = memory.tensor_census()
    assert after["Tensor (13, 17) cpu"] - before.get("Tensor (13, 17) cpu", 0) == len(kept)
