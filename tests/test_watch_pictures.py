"""What sentinels are shown beyond the plain loop: layers, evaluations in depth, traces of gradients, the wider run."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated

import torch
from torch import nn
from torch._C import _len_torch_function_stack as len_of_modes
from torch.nn import functional as F
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from torchlore.watch import Alarm, Call, Phase, Sentinel, Step, watching
from torchlore.watch.session import Options

HERE = Options(roots=(__file__,))


class RNN(nn.Module):
    """A user's own class with the name of one of PyTorch's."""

    def __init__(self):
        super().__init__()
        self.inner = nn.GRU(3, 4, batch_first=True)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.inner(x)[0][:, -1])


def step(model, optimizer, x, y):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()


def test_layers_are_shown_by_the_class_of_pytorch_and_not_by_the_users():
    seen = []

    def layers(call: Annotated[Call, "RNN", "GRU", "Linear"]) -> None:
        seen.append((call.name, type(call.modules[0]).__name__, call.group))

    model = RNN()
    with watching([Sentinel("layers", layers)], HERE):
        model(torch.randn(2, 5, 3))
        nn.GRU(3, 4)(torch.randn(2, 1, 3))
    assert seen[:2] == [("GRU", "RNN", "layer"), ("Linear", "RNN", "layer")]
    assert seen[2:] == [("GRU", "GRU", "layer")]


def test_notes_last_for_the_run_and_memory_for_the_line():
    seen = []

    def counts(call: Annotated[Call, "mse_loss"]) -> None:
        call.notes["all"] = call.notes.get("all", 0) + 1
        call.memory["line"] = call.memory.get("line", 0) + 1
        seen.append((call.notes["all"], call.memory["line"]))

    x = torch.zeros(2)
    with watching([Sentinel("counts", counts)], HERE):
        F.mse_loss(x, x)
        F.mse_loss(x, x)
    assert seen == [(1, 1), (2, 1)]


def test_operations_of_an_evaluation_after_training_are_seen(monkeypatch):
    monkeypatch.setattr("torchlore.watch.deep.EVALUATION_NS", 10**11)  # a machine may stall
    seen = []

    def compares(call: Annotated[Call, "eq", "__eq__"]) -> None:
        seen.append(call.run.steps)

    model, y = nn.Linear(4, 2), torch.randint(0, 2, (8,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watching([Sentinel("compares", compares)], HERE):
        for _ in range(12):
            step(model, optimizer, torch.randn(8, 4), y)
        for _ in range(5):
            with torch.no_grad():
                (model(torch.randn(8, 4)).argmax(1) == y).sum()
            step(model, optimizer, torch.randn(8, 4), y)
    assert sorted(set(seen)) == [12, 13, 14]  # the first three


def test_the_property_data_is_seen_as_an_operation():
    seen = []

    def cuts(call: Annotated[Call, "data", "detach"]) -> None:
        seen.append((call.name, len(call.leaves(call.args[0]))))

    weight = nn.Parameter(torch.ones(3))
    with watching([Sentinel("cuts", cuts)], HERE):
        product = weight * 2
        assert product.data.sum() == product.detach().sum() == 6
        assert weight.grad is None
    assert seen == [("data", 1), ("detach", 1)]


def trace(change):
    """`untouched` of the third step of a loop of two backwards a step, with something done in between or after."""
    model, found = nn.Linear(4, 2), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def steps(one: Step) -> None:
        found.append(one.untouched)

    with watching([Sentinel("steps", steps)], HERE):
        for _ in range(3):
            for turn in range(2):
                optimizer.zero_grad()
                F.cross_entropy(model(torch.randn(8, 4)), torch.zeros(8, dtype=torch.long)).backward()
                change(model, turn)
            optimizer.step()
    return found[-1]


def test_a_step_knows_whether_its_gradients_are_those_of_the_last_backward():
    def climb(model, turn):
        with torch.no_grad():
            model.weight.add_(0.01 if turn == 0 else 0.0)

    def replace(model, turn):
        if turn:
            model.weight.grad = model.weight.grad.clone()

    assert trace(lambda model, turn: None)
    assert trace(lambda model, turn: nn.utils.clip_grad_norm_(model.parameters(), 1.0) if turn else None)
    assert not trace(climb)
    assert not trace(replace)


def test_a_step_is_a_call_as_well_and_shows_the_optimizer():
    seen = []

    def steps(call: Annotated[Call, "Optimizer.step"]) -> Alarm | None:
        seen.append(call.owner)
        return Alarm("stepped") if len(seen) == 2 else None

    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watching([Sentinel("steps", steps)], HERE) as found:
        for _ in range(2):
            step(model, optimizer, torch.randn(8, 4), torch.zeros(8, dtype=torch.long))
    assert seen == [optimizer, optimizer]
    assert [one.message for one in found] == ["stepped"]


def test_a_run_remembers_what_an_optimizer_that_is_gone_held():
    seen = []

    def end(phase: Phase) -> None:
        if phase.final:
            seen.append((id(model.weight) in phase.run.held(), id(model.weight) in phase.run.ever_held()))

    model = nn.Linear(4, 2)

    def pretrain():
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step(model, optimizer, torch.randn(8, 4), torch.zeros(8, dtype=torch.long))

    with watching([Sentinel("end", end)], HERE):
        pretrain()
    assert seen == [(False, True)]


class Once(IterableDataset):
    def __init__(self):
        self.items = iter(range(6))

    def __iter__(self):
        return self.items


def test_a_loader_counts_its_empty_epochs_and_what_drop_last_leaves_out():
    seen = {}

    def end(phase: Phase) -> None:
        for one in phase.run.loaders if phase.final else ():
            seen[one.kind, one.left_out] = (one.batches, one.empty)

    with watching([Sentinel("end", end)], HERE):
        dry, full = DataLoader(Once(), batch_size=2), DataLoader(TensorDataset(torch.zeros(7)), 2, drop_last=True)
        for _ in range(3):
            list(dry)
            list(full)
    assert seen == {("DataLoader", 0): (3, 2), ("DataLoader", 1): (9, 0)}


def test_schedulers_whose_steps_are_not_seen_are_told_apart():
    class Own(lr_scheduler.LRScheduler):
        def get_lr(self):
            return [0.1]

        def step(self):
            self.moved = True

    seen = {}

    def end(phase: Phase) -> None:
        if phase.final:
            seen.update({one.kind: (one.steps, one.seen) for one in phase.run.schedulers})

    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)
    with watching([Sentinel("end", end)], HERE):
        plain = lr_scheduler.ExponentialLR(optimizer, 0.9)
        parts = [lr_scheduler.LinearLR(optimizer), lr_scheduler.StepLR(optimizer, 3)]
        chain, own = lr_scheduler.SequentialLR(optimizer, parts, milestones=[2]), Own(optimizer)
        optimizer.step()
        for one in (plain, chain, own):
            one.step()
    assert seen["ExponentialLR"] == (1, True)
    assert seen["SequentialLR"] == (1, True)
    assert seen["LinearLR"][1] is seen["StepLR"][1] is seen["Own"][1] is False


def test_a_backward_that_is_walked_counts_its_nodes():
    sizes = []

    def backwards(call: Annotated[Call, "backward"]) -> None:
        sizes.append(call.kwargs["nodes"])

    weight = nn.Parameter(torch.ones(2))
    with watching([Sentinel("backwards", backwards)], HERE):
        state = weight * 1
        for _ in range(3):
            state = state * 2
            state.sum().backward(retain_graph=True)
    assert sizes == [4, 5, 6]


def test_the_pictures_are_imported_without_the_session():
    code = (
        "import torchlore.watch.pictures, sys; print('torchlore.watch.session' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_the_deep_look_leaves_for_good_when_its_time_is_spent(monkeypatch):
    monkeypatch.setattr("torchlore.watch.deep.EVALUATION_NS", 0)
    model, y = nn.Linear(4, 2), torch.zeros(8, dtype=torch.long)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    depths = []
    with watching([], HERE):
        for _ in range(4):
            step(model, optimizer, torch.randn(8, 4), y)
        with torch.no_grad():
            for _ in range(3):
                model(torch.randn(8, 4)).sum()
                depths.append(len_of_modes())
            model.train()
            depths.append(len_of_modes())
    assert depths == [1, 1, 1, 0]
    assert len_of_modes() == 0
