"""Nothing changes: programs of every kind give the same numbers, graphs and random states with and without a watch."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.flop_counter import FlopCounterMode

from torchlore.watch.runner import hide
from torchlore.watch.session import Options, catalogue_sentinels, watching

SENTINELS = catalogue_sentinels()


def digest(model):
    state = [value.detach().float().numpy().tobytes() for value in model.state_dict().values()]
    return hashlib.sha256(b"".join([*state, torch.get_rng_state().numpy().tobytes()])).hexdigest()


def net():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Dropout(0.2), nn.Linear(16, 3))


def data():
    return torch.randn(64, 8), torch.randint(0, 3, (64,))


def fit(model, steps, forward=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = data()
    for _ in range(steps):
        optimizer.zero_grad()
        F.cross_entropy((forward or model)(x), y).backward()
        optimizer.step()
    return digest(model)


def plain_and_long():
    return fit(net(), 300)


def compiled():
    model = net()
    torch._dynamo.utils.counters.clear()
    result = fit(model, 80, torch.compile(model, backend="aot_eager"))
    counters = torch._dynamo.utils.counters
    return result, counters["stats"]["unique_graphs"], sum(counters["graph_break"].values())


def compiled_late():
    """It begins while nobody looks: whole steps, the optimizer's too, are compiled once and stay so."""
    model = net()
    fit(model, 100)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = data()
    torch._dynamo.utils.counters.clear()
    forward, step = torch.compile(model, backend="aot_eager"), torch.compile(optimizer.step, backend="aot_eager")
    for _ in range(60):
        optimizer.zero_grad()
        F.cross_entropy(forward(x), y).backward()
        step()
    return digest(model), torch._dynamo.utils.counters["stats"]["unique_graphs"]


def mixed_precision():
    model, scaler = net(), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = data()
    for _ in range(20):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return digest(model)


def checkpointing():
    model = net()
    return fit(model, 10, lambda x: checkpoint(model, x, use_reentrant=False))


def functional():
    model = net().eval()
    x, y = data()
    parameters = dict(model.named_parameters())

    def loss(p, one, label):
        return F.cross_entropy(functional_call(model, p, (one[None],)), label[None])

    each = vmap(grad(loss), (None, 0, 0))(parameters, x, y)
    return [value.sum().item() for value in each.values()]


def lbfgs():
    model = nn.Linear(8, 3)
    optimizer, (x, y) = torch.optim.LBFGS(model.parameters()), data()

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    for _ in range(8):
        optimizer.step(closure)
    return digest(model)


def two_optimizers():
    maker, judge = nn.Linear(4, 8), nn.Linear(8, 1)
    first, second = (torch.optim.Adam(model.parameters()) for model in (maker, judge))
    for _ in range(15):
        fake = maker(torch.randn(16, 4))
        second.zero_grad()
        F.binary_cross_entropy_with_logits(judge(fake.detach()), torch.zeros(16, 1)).backward()
        second.step()
        first.zero_grad()
        F.binary_cross_entropy_with_logits(judge(fake), torch.ones(16, 1)).backward()
        first.step()
    return digest(nn.ModuleList([maker, judge]))


def workers():
    model, optimizer_steps = net(), 0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x, y in DataLoader(TensorDataset(*data()), 8, shuffle=True, num_workers=2):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer_steps += 1
    return digest(model), optimizer_steps


def attention_fast_path():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model, outputs = nn.TransformerEncoder(layer, 2), []
    optimizer, x = torch.optim.AdamW(model.parameters()), torch.randn(4, 6, 8)
    for _ in range(6):
        model.train()
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            outputs.append(model(x).sum().item())
    return digest(model), outputs


def default_device():
    torch.set_default_device("cpu")
    with torch.device("meta"):
        assert torch.empty(1).is_meta
    result = fit(net(), 10)
    with torch.device("meta"):
        assert torch.empty(1).is_meta
    assert torch.empty(1).device.type == "cpu"
    torch.set_default_device(None)
    return result


def a_mode_of_the_users():
    count = []

    class Counts(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            count.append(func)
            return func(*args, **(kwargs or {}))

    with Counts():
        result = fit(net(), 5)
    seen = len(count)
    assert (torch.ones(2) + 1).sum() == 4
    return result, seen, len(count) - seen


def counted_operations():
    with FlopCounterMode(display=False) as counter:
        fit(net(), 3)
    return counter.get_total_flops()


def traced():
    model = net().eval()
    x, _ = data()
    kinds = torch.jit.trace(model, x), torch.export.export(model, (x,)).module(), torch.fx.symbolic_trace(model)
    return [one(x).sum().item() for one in kinds], len(list(kinds[2].graph.nodes))


def copied_and_saved():
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    F.cross_entropy(model(data()[0]), data()[1]).backward()
    optimizer.step()
    copy.deepcopy((model, optimizer))
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    return (
        len(file.getvalue()),
        sorted(vars(model)),
        sorted(vars(optimizer)),
        sorted(vars(optimizer.param_groups[0]["params"][0])),
    )


PROGRAMS = [
    plain_and_long, compiled, compiled_late, mixed_precision, checkpointing, functional, lbfgs, two_optimizers, workers,
    attention_fast_path, default_device, a_mode_of_the_users, counted_operations, traced, copied_and_saved,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.filterwarnings("ignore")
def test_the_same_with_and_without_a_watch(program):
    results = []
    for watch in (contextlib.nullcontext, lambda: watching(SENTINELS, Options(roots=(__file__,)))):
        torch.manual_seed(0)
        torch._dynamo.reset()
        with warnings.catch_warnings(), watch() as found:
            results.append(program())
    assert results[0] == results[1]
    assert found == [], [one.message for one in found]
    if program is compiled:
        assert results[1][1:] == (1, 0), "one graph, no breaks"


def warned():
    """Where Python puts the warnings of PyTorch, of functions in C++ and in Python: here, once a line."""
    net, x, y = nn.Linear(3, 1), torch.randn(4, 3), torch.randn(4)
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(4):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(net(x), y)
            torch.tensor(x).mul(torch.tensor(y.sum()))
            nn.functional.softmax(x)
            loss.backward()
            optimizer.step()
            schedule.step(1)
    return [(one.filename, one.lineno, str(one.message)) for one in found]


def test_a_warning_names_the_line_it_would_name_without_a_watch():
    alone = warned()
    with watching(SENTINELS, Options(roots=(__file__,))):
        watched = warned()
    assert watched == alone
    assert len(alone) == 4
    assert {one[0] for one in alone} == {__file__}


def test_a_traceback_has_no_line_twice():
    with watching(SENTINELS, Options(roots=(__file__,))):
        torch.zeros(1)
        with pytest.raises(RuntimeError) as raised:
            torch.zeros(2) @ torch.zeros(3)
    hide(raised.value)
    assert raised.value.__traceback__.tb_next is None


def test_the_bench_runs_what_it_is_given(tmp_path):
    (tmp_path / "steady.py").write_text("import torch\n\ntotal = torch.randn(3).sum().item()\nprint(total)\n")
    (tmp_path / "other.py").write_text("raise SystemExit(3)\n")
    bench = Path(__file__).parents[1] / "bench" / "watch_same.py"
    words = [sys.executable, str(bench), "--no-notes", str(tmp_path), "--only", "steady"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1 scripts: 0 differ under watch")
