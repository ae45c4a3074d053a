import argparse
import os
import random
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from torchlore.recipes import checkpoint as c
from torchlore.recipes import optim, schedules

QUICK = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def same(a, b):
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


TENSORS = st.builds(lambda n, k: torch.arange(n).to(k), st.integers(0, 5), st.sampled_from([torch.float32, torch.int8]))
VALUES = st.recursive(
    TENSORS
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.booleans()
    | st.none()
    | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=10,
)


FULL_DISK = """
import resource, signal, sys, torch
from torchlore.recipes import checkpoint as c

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
try:
    c.save({"big": torch.zeros(1_000_000)}, sys.argv[1])
except OSError as error:
    print(error)
"""


def run_script(code, path):
    """In a process of its own: a process that has started torch's threads must not fork."""
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=4))
@QUICK
def test_what_is_saved_comes_back(tmp_path, state):
    assert same(c.load(c.save(state, tmp_path / "a.pt")), state)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (nn.Linear(1, 1), r"state\['x'\]\[0\] is a torch.nn.modules.linear.Linear"),
        (argparse.Namespace(lr=1), r"state\['x'\]\[0\] is a argparse.Namespace"),
        (Path(), r"state\['x'\]\[0\] is a pathlib"),
        (np.ones(2), r"state\['x'\]\[0\] is a numpy.ndarray"),
        ({1, 2}, r"is a builtins.set"),
        (b"ab", r"is a builtins.bytes"),
        (lambda: 0, r"is a builtins.function"),
    ],
)
def test_what_no_safe_load_accepts_is_refused_when_saving(tmp_path, value, where):
    with pytest.raises(TypeError, match=where):
        c.save({"x": [value]}, tmp_path / "a.pt")
    assert list(tmp_path.iterdir()) == []


def test_numpy_numbers_become_python_numbers(tmp_path):
    best = np.mean(np.array([1, 2]) == np.array([1, 1])) * 100
    found = c.load(c.save({"best": best, "n": np.int64(3), "flag": np.bool_(True)}, tmp_path / "a.pt"))
    assert found == {"best": 50.0, "n": 3, "flag": True}
    assert [type(one) for one in found.values()] == [float, int, bool]


def test_a_small_view_of_a_large_tensor_stays_small_and_tied_tensors_stay_tied(tmp_path):
    large = torch.zeros(1_000_000)
    path = c.save({"view": large[:10]}, tmp_path / "a.pt")
    assert path.stat().st_size < 10_000
    t = torch.ones(4)
    found = c.load(c.save({"a": t, "b": t}, tmp_path / "b.pt"))
    assert found["a"].data_ptr() == found["b"].data_ptr()


def test_the_versions_of_modules_travel_with_a_state_dict(tmp_path):
    state = nn.BatchNorm1d(2).state_dict()
    found = c.load(c.save({"model": state}, tmp_path / "a.pt"))["model"]
    assert isinstance(found, OrderedDict)
    assert found._metadata == state._metadata


def test_folders_are_made_and_nothing_else_is_left(tmp_path):
    c.save({"a": 1}, tmp_path / "new" / "folder" / "a.pt")
    assert [one.name for one in (tmp_path / "new" / "folder").iterdir()] == ["a.pt"]
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new" / "folder" / "a.pt").stat().st_mode & 0o777 == 0o666 & ~mask


def test_an_error_while_writing_keeps_the_old_file(tmp_path):
    c.save({"a": 1}, tmp_path / "a.pt")
    with pytest.raises(KeyError), c.atomic(tmp_path / "a.pt") as file:
        file.write(b"half")
        raise KeyError
    assert c.load(tmp_path / "a.pt") == {"a": 1}
    assert len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_keeps_the_old_file_and_says_so(tmp_path):
    c.save({"a": 1}, tmp_path / "a.pt")
    assert "a.pt could not be written, and what was there before is kept" in run_script(FULL_DISK, tmp_path / "a.pt")
    assert c.load(tmp_path / "a.pt") == {"a": 1}
    assert len(list(tmp_path.iterdir())) == 1


def test_a_cut_file_is_named_at_every_length(tmp_path):
    whole = c.save({"w": torch.arange(50), "n": "text"}, tmp_path / "a.pt").read_bytes()
    path = tmp_path / "cut.pt"
    for length in [*range(0, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(c.BrokenCheckpointError, match=r"cut\.pt"):
            c.load(path)


@pytest.mark.parametrize("writer", ["ours", "torch"])
def test_a_flipped_bit_never_gives_other_values(tmp_path, writer):
    """Every byte, one bit each; the bit that makes torch read a record as an empty folder is among them."""
    state = {"w": torch.arange(50), "n": 7}
    path = tmp_path / "a.pt"
    if writer == "ours":
        c.save(state, path)
    else:
        torch.save(state, path)
    whole = bytearray(path.read_bytes())
    caught = 0
    for place in range(len(whole)):
        for bit in {place % 8, 4}:
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            path.write_bytes(bytes(flipped))
            try:
                found = c.load(path)
            except c.BrokenCheckpointError:
                caught += 1
                continue
            assert same(found, state)  # it lay in padding
    assert caught > (len(whole) if writer == "ours" else 300)


def test_a_file_of_ours_is_a_plain_file_of_torch(tmp_path):
    path = c.save({"w": torch.ones(3)}, tmp_path / "a.pt")
    assert torch.load(path, weights_only=True)["w"].sum() == 3
    assert torch.load(path, weights_only=True, mmap=True)["w"].sum() == 3
    torch.save({"w": torch.ones(3)}, tmp_path / "b.pt")
    assert c.load(tmp_path / "b.pt")["w"].sum() == 3


def test_a_pickle_that_runs_code_is_refused_and_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save({"model": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(c.BrokenCheckpointError, match="mkdir"):
        c.load(tmp_path / "evil.pt")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"\x80\x02}q\x00."])
def test_what_is_no_checkpoint_is_named(tmp_path, content):
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(c.BrokenCheckpointError, match=r"x\.pt"):
        c.load(tmp_path / "x.pt")
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        c.load(tmp_path / "absent.pt")


def test_a_tensor_of_a_gpu_loads_on_the_cpu(tmp_path):
    """A file that says cuda:0, forged where there is no GPU."""
    import zipfile

    path = c.save({"w": torch.ones(2)}, tmp_path / "a.pt")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "gpu.pt", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("data.pkl"):
                content = content.replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
            new.writestr(name, content)
    assert c.load(tmp_path / "gpu.pt")["w"].device.type == "cpu"


def accuracy_run(folder, figures, mode="max", keep=2):
    run = c.Checkpoints(folder, mode=mode, keep=keep)
    for step, figure in figures:
        run.save({"step": step}, step, figure)
    return run


@given(st.lists(st.floats(0, 1) | st.just(float("nan")) | st.none(), min_size=1, max_size=8), st.integers(1, 3))
@QUICK
def test_best_and_last_are_what_they_say(tmp_path_factory, figures, keep):
    folder = tmp_path_factory.mktemp("run")
    run = accuracy_run(folder, list(enumerate(figures)), keep=keep)
    assert run.newest().state["step"] == len(figures) - 1
    assert c.load(folder / "last.pt")["step"] == len(figures) - 1
    assert run.steps() == list(range(len(figures)))[::-1][:keep]
    known = [
        (figure, -step) for step, figure in enumerate(figures) if figure is not None and figure == figure
    ]  # not NaN
    if known:
        assert c.load(folder / "best.pt")["step"] == -max(known)[1]
        assert run.best == max(known)[0]
    else:
        assert not (folder / "best.pt").exists()


def test_the_best_survives_rotation_and_a_restart(tmp_path):
    accuracy_run(tmp_path, [(1, 0.9), (2, 0.1), (3, 0.2), (4, 0.3)])
    again = c.Checkpoints(tmp_path, mode="max")
    assert again.best == 0.9
    again.save({"step": 5}, 5, 0.5)
    assert c.load(tmp_path / "best.pt")["step"] == 1
    assert again.newest().state["checkpoint"] == {"step": 5, "figure": 0.5}


def test_a_loss_is_better_when_smaller(tmp_path):
    accuracy_run(tmp_path, [(1, 0.9), (2, 0.1), (3, 0.2)], mode="min")
    assert c.load(tmp_path / "best.pt")["step"] == 2


def test_a_broken_newest_checkpoint_is_skipped_named_and_set_aside(tmp_path):
    run = accuracy_run(tmp_path, [(1, 0.9), (2, 0.1)])
    run.path(2).write_bytes(run.path(2).read_bytes()[:-40])
    found = run.newest()
    assert found.state["step"] == 1
    assert "step-00000002.pt" in found.skipped[0]
    assert run.steps() == [1]
    run.save({"step": 2}, 2)
    assert run.newest().skipped == ()
    for step in run.steps():
        run.path(step).write_bytes(b"")
    with pytest.raises(c.BrokenCheckpointError, match=r"no checkpoint in .* is whole"):
        run.newest()


def test_a_run_that_did_not_resume_is_stopped_before_it_mixes_two_runs(tmp_path):
    accuracy_run(tmp_path, [(100, 0.9)])
    fresh = c.Checkpoints(tmp_path, mode="max")
    with pytest.raises(ValueError, match="already holds step 100, later than 10"):
        fresh.save({"step": 10}, 10)


def test_an_empty_folder_has_no_newest_and_bad_arguments_are_named(tmp_path):
    assert c.Checkpoints(tmp_path / "new", mode="max").newest() is None
    with pytest.raises(ValueError, match="mode is"):
        c.Checkpoints(tmp_path, mode="best")
    with pytest.raises(ValueError, match="keep is"):
        c.Checkpoints(tmp_path, mode="max", keep=0)
    with pytest.raises(ValueError, match="'checkpoint' is taken"):
        c.Checkpoints(tmp_path, mode="max").save({"checkpoint": 1}, 1)


def test_links_cost_no_space_and_stay_whole_when_the_original_goes(tmp_path):
    run = accuracy_run(tmp_path, [(1, 0.5)])
    assert run.path(1).stat().st_ino == (tmp_path / "best.pt").stat().st_ino
    run.path(1).unlink()
    assert c.load(tmp_path / "best.pt")["step"] == 1


KILLED = """
import os, random, signal, sys, time, torch
from pathlib import Path
from torchlore.recipes import checkpoint as c

folder = Path(sys.argv[1])
reached = 0
for attempt in range(12):
    child = os.fork()
    if child == 0:
        run = c.Checkpoints(folder, mode="max")
        found = run.newest()
        step = found.state["checkpoint"]["step"] if found else 0
        while True:
            step += 1
            run.save({"w": torch.full((200_000,), float(step))}, step, step)
    while not (folder / "best.pt").exists():
        time.sleep(0.01)
    time.sleep(random.Random(attempt).uniform(0.0, 0.2))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    run = c.Checkpoints(folder, mode="max")
    found = run.newest()
    step = found.state["checkpoint"]["step"]
    assert found.skipped == (), found.skipped
    assert step >= reached
    assert (found.state["w"] == step).all()
    for name in ("last.pt", "best.pt"):
        assert c.load(folder / name)["checkpoint"]["step"] == step
    assert not list(folder.glob(".*"))
    reached = step
print("reached", reached)
"""


def test_a_writer_killed_at_any_moment_leaves_a_whole_checkpoint(tmp_path):
    assert int(run_script(KILLED, tmp_path).split()[1]) > 0


def parts():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
    opt = torch.optim.AdamW(optim.decay_groups(model, 0.1), lr=0.1)
    plan = schedules.Warmup(schedules.Cosine(20), 5)
    scheduler = schedules.ScheduleLR(opt, plan, per="step")
    return {"model": model, "optimizer": opt, "scheduler": scheduler, "ema": optim.EMA(model, 0.9, warmup=True)}


def train(run, steps):
    for _ in range(steps):
        noise = torch.randn(6, 3) + random.random() + float(np.random.rand())  # noqa: NPY002 - the global generator is saved
        run["model"](noise).square().mean().backward()
        run["optimizer"].step()
        run["scheduler"].step()
        run["optimizer"].zero_grad()
        run["ema"].update(run["model"])


@pytest.mark.parametrize("stop", [1, 6, 11])
def test_a_run_that_is_stopped_and_resumed_ends_with_the_same_bits(tmp_path, stop):
    whole = parts()
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - the global generator is saved
    torch.manual_seed(1)
    train(whole, stop)
    c.save(c.collect(**whole, epoch=1), tmp_path / "a.pt")
    train(whole, 12 - stop)
    resumed = parts()
    torch.rand(7)
    random.random()
    state = c.load(tmp_path / "a.pt")
    c.restore(state, **resumed)
    assert state["epoch"] == 1
    train(resumed, 12 - stop)
    assert same(resumed["model"].state_dict(), whole["model"].state_dict())
    assert same(resumed["ema"].state_dict(), whole["ema"].state_dict())
    assert same(resumed["optimizer"].state_dict()["state"], whole["optimizer"].state_dict()["state"])


def test_a_wrapped_model_is_saved_bare_and_missing_parts_are_named():
    inner = nn.Linear(1, 1)
    state = c.collect(model=nn.DataParallel(inner))
    assert list(state["model"]) == ["weight", "bias"]
    c.restore(state, model=inner)
    with pytest.raises(KeyError, match=r"parts names 'ema', .* it holds model, rng"):
        c.restore(state, ema=optim.EMA(inner))
    with pytest.raises(ValueError, match="'rng', which is taken"):
        c.collect(rng=1)
