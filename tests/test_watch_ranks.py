"""Two processes that train together: what is told of them, and what is not. All with real processes over gloo."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from torchlore.verify import isolated, warm
from torchlore.watch import Options, watching
from torchlore.watch.session import catalogue_sentinels

HERE = Options(roots=(__file__,))
warm()  # before the forks
SENTINELS = catalogue_sentinels()


def loop(model, steps=6, sync=None, after=None):
    """Train on numbers of its own in each process; `after` each backward the gradients may be treated by hand."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for n in range(steps):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        with sync(n) if sync else torch.enable_grad():
            (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        if after is not None:
            after(model, n)
        optimizer.step()


def never_in_step():
    model = DistributedDataParallel(nn.Linear(4, 1))
    loop(model, sync=lambda _: model.no_sync())


def cast_after_wrapping():
    model = DistributedDataParallel(nn.Linear(4, 1).double())
    model.float()
    loop(model)


def experts_stay_local():
    torch.manual_seed(0)
    model = nn.Linear(4, 1)
    torch.manual_seed(dist.get_rank())
    loop(model, after=lambda model, _: dist.all_reduce(model.weight.grad))


def as_it_should_be():
    loop(DistributedDataParallel(nn.Linear(4, 1)))


def accumulated():
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        optimizer.zero_grad()
        with model.no_sync():
            model(torch.randn(8, 4)).pow(2).mean().backward()
        model(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()


def summed_up_in_one_piece():
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Linear(40, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(dist.get_rank())
    for _ in range(6):
        optimizer.zero_grad()
        model.module(torch.randn(8, 40)).pow(2).mean().backward()
        flat = torch.cat([p.grad.flatten() for p in model.parameters()])
        dist.all_reduce(flat)
        for p, part in zip(model.parameters(), flat.split([p.numel() for p in model.parameters()]), strict=True):
            p.grad.copy_(part.view_as(p))
        optimizer.step()


def local_sgd():
    def average(model, n):
        if n == 5:
            for p in model.parameters():
                mean = p.data.clone()
                dist.all_reduce(mean)
                p.data.copy_(mean / 2)

    model = DistributedDataParallel(nn.Linear(100, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for n in range(6):
        optimizer.zero_grad()
        with model.no_sync():
            model(torch.randn(8, 100)).pow(2).mean().backward()
        average(model, n)
        optimizer.step()


def the_inner_module_evaluates():
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(6):
        optimizer.zero_grad()
        with torch.no_grad():
            model.module(torch.randn(8, 4))
        model(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()


def a_data_set_of_one_batch():
    loader = DataLoader(TensorDataset(torch.ones(64, 4)), batch_size=8)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for (x,) in loader:
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()


def every_batch_cut_by_rank():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, shuffle=True)
    model = DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for (x,) in loader:
        optimizer.zero_grad()
        model(x.chunk(2)[dist.get_rank()]).pow(2).mean().backward()
        optimizer.step()


def as_rank(rank, folder, work):
    dist.init_process_group("gloo", store=dist.FileStore(f"{folder}/store", 2), rank=rank, world_size=2)
    torch.manual_seed(rank)
    work()
    dist.destroy_process_group()


def told_of(work, answer):
    """What the watch says in rank 0 while rank 1 runs beside it; the folder both wrote into must be gone."""
    with tempfile.TemporaryDirectory() as folder, watching(SENTINELS, HERE) as found:
        tempfile.tempdir = folder
        other = multiprocessing.get_context("fork").Process(target=as_rank, args=(1, folder, work))
        other.start()
        as_rank(0, folder, work)
        other.join()
    answer.write_text(json.dumps([one.slug for one in found]))


@pytest.mark.parametrize(
    ("work", "slugs"),
    [
        (never_in_step, ["ranks-drift-apart"]),
        (cast_after_wrapping, ["ranks-drift-apart"]),
        (experts_stay_local, []),
        (as_it_should_be, []),
        (accumulated, []),
        (summed_up_in_one_piece, []),
        (local_sgd, []),
        (the_inner_module_evaluates, []),
        (a_data_set_of_one_batch, []),
        (every_batch_cut_by_rank, []),
    ],
    ids=lambda one: one.__name__ if callable(one) else "",
)
def test_what_is_told_of_two_processes(work, slugs, tmp_path):
    answer = tmp_path / "told"
    assert isolated(lambda: told_of(work, answer)) == ""
    assert json.loads(answer.read_text()) == slugs


SCRIPT = """
import torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
dist.init_process_group("gloo")
torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=8, shuffle=True)
model = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for (x,) in loader:
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    optimizer.step()
print(dist.get_rank(), model.module.weight.sum().item())
dist.destroy_process_group()
"""


@pytest.mark.long
@pytest.mark.parametrize("outside", [True, False], ids=["torchrun is watched", "torchrun starts the watch"])
def test_ranks_of_torchrun(outside, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "tmp").mkdir()
    run = ["torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0"]
    watch = ["-m", "torchlore", "watch", "--only", "same-data-on-every-rank,ranks-drift-apart,ddp-bypassed"]
    words = [*watch, "-m", *run, "train.py"] if outside else ["-m", *run, *watch, "train.py"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path / "tmp")}
    seen = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert seen.returncode == 0, seen.stderr
    assert len(seen.stdout.splitlines()) == 2
    assert seen.stderr.count("train.py:7: error same-data-on-every-rank") == 1, seen.stderr
    assert not [one for one in Path(tmp_path / "tmp").iterdir() if one.name.startswith("lore-")]
