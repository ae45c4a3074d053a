"""The table of a model's layers. Users import it from `profile`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from torchlore.recipes.device import map_tensors, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Row:
    """One module: what it gave the first time, and what it costs over all of its calls."""

    name: str
    kind: str
    depth: int
    shape: tuple[int, ...] = ()
    parameters: int = 0  # of this module and those below it, each counted once
    trainable: int = 0
    macs: int = 0  # multiply-adds of matrix products, convolutions and attention, in and below it
    output_bytes: int = 0
    calls: int = 0
    leaf: bool = True


@dataclass(frozen=True)
class Summary:
    """The rows of a model in the order in which they ran, and its totals; `str()` of it is the table."""

    rows: tuple[Row, ...]
    parameters: int
    trainable: int
    macs: int
    parameter_bytes: int
    buffer_bytes: int
    activation_bytes: int  # outputs of all layers in one forward pass
    remarks: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        cells = [("layer", "type", "output", "parameters", "MACs", "MiB")]
        for row in self.rows:
            name = "  " * row.depth + (row.name.rpartition(".")[2] or "(model)")
            calls = f" x{row.calls}" if row.calls > 1 else ""
            shape = "x".join(map(str, row.shape)) if row.calls else "did not run"
            size = f"{row.output_bytes / 2**20:.2f}"
            cells.append((name + calls, row.kind, shape, f"{row.parameters:,}", f"{row.macs:,}", size))
        wide = [max(len(line[column]) for line in cells) for column in range(6)]
        lines = ["  ".join(_pad(text, wide[c], c) for c, text in enumerate(line)).rstrip() for line in cells]
        lines.insert(1, "-" * len(max(lines, key=len)))
        frozen = self.parameters - self.trainable
        total = (
            f"{self.parameters:,} parameters ({frozen:,} frozen), {self.parameter_bytes / 2**20:.1f} MiB, "
            f"buffers {self.buffer_bytes / 2**20:.1f} MiB; {self.macs:,} MACs, "
            f"layer outputs {self.activation_bytes / 2**20:.1f} MiB"
        )
        return "\n".join([*lines, total, *self.remarks])


def _pad(text: str, width: int, column: int) -> str:
    return text.rjust(width) if column >= 3 else text.ljust(width)


def summary(model: nn.Module, *inputs: Any, **options: Any) -> Summary:
    """Run a model once, without gradients and in evaluation mode, and list its layers.

    A layer that runs twice is one row with its number of calls: its parameters are counted once, its MACs each time.
    The modes of all modules are put back.

    Args:
        model: Any module; a wrapper of it is taken off.
        inputs: What it takes; on the `meta` device, with the model there too, nothing is computed.
        options: Keyword arguments of the model.

    Returns:
        The table.

    >>> net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16, 10))
    >>> table = summary(net, torch.zeros(1, 3, 4, 4))
    >>> table.parameters, table.macs, table.rows[1].shape
    (1514, 4736, (1, 8, 4, 4))
    """
    inner = unwrap(model)
    rows = _rows(inner)
    before = {module: module.training for module in inner.modules()}
    order: list[nn.Module] = []
    try:
        inner.eval()
        with torch.no_grad(), FlopCounterMode(display=False) as counter, ExitStack() as stack:
            _watch(stack, rows, order, counter.get_total_flops)
            inner(*inputs, **options)
    finally:
        for module, flag in before.items():
            module.training = flag
    ran = [rows[module] for module in order]
    ordered = _preorder(ran) + [row for row in rows.values() if not row.calls]
    return _total(inner, ordered, rows[inner].macs)


def _preorder(ran: list[Row]) -> list[Row]:
    """Rows as they first ran; a parent was entered before its children."""
    return list({id(row): row for row in ran}.values())


def _rows(model: nn.Module) -> dict[nn.Module, Row]:
    rows = {}
    for name, module in model.named_modules():
        owned = list(module.parameters())
        rows[module] = Row(
            name=name,
            kind=type(module).__name__,
            depth=name.count(".") + 1 if name else 0,
            parameters=sum(p.numel() for p in owned if not nn.parameter.is_lazy(p)),
            trainable=sum(p.numel() for p in owned if p.requires_grad and not nn.parameter.is_lazy(p)),
            leaf=next(module.children(), None) is None,
        )
    return rows


def _watch(stack: ExitStack, rows: dict[nn.Module, Row], order: list[nn.Module], flops: Callable[[], int]) -> None:
    entered: list[int] = []

    def enter(module: nn.Module, _args: object) -> None:
        order.append(module)
        entered.append(flops())

    def leave(module: nn.Module, _args: object, output: Any) -> None:
        row, sizes = rows[module], _sizes(output)
        row.macs += (flops() - entered.pop()) // 2
        row.calls += 1
        row.shape = row.shape or (sizes[0][0] if sizes else ())
        row.output_bytes += sum(size for _, size in sizes)

    for module in rows:
        stack.callback(module.register_forward_pre_hook(enter).remove)
        stack.callback(module.register_forward_hook(leave).remove)


def _sizes(output: Any) -> list[tuple[tuple[int, ...], int]]:
    found: list[tuple[tuple[int, ...], int]] = []

    def add(leaf: Any) -> None:
        tensor = leaf if isinstance(leaf, torch.Tensor) else leaf.data
        found.append((tuple(tensor.shape), tensor.numel() * tensor.element_size()))

    map_tensors(output, add)
    return found


def _total(model: nn.Module, rows: list[Row], macs: int) -> Summary:
    owned = list(model.parameters())
    names: dict[int, list[str]] = {}
    for name, p in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(p), []).append(name)
    remarks = [
        f"{row.name} ran {row.calls} times: its {row.parameters:,} parameters are counted once"
        for row in rows
        if row.leaf and row.calls > 1 and row.parameters
    ]
    remarks += [f"{' and '.join(one)} are one tensor, counted once" for one in names.values() if len(one) > 1]
    return Summary(
        rows=tuple(rows),
        parameters=sum(p.numel() for p in owned),
        trainable=sum(p.numel() for p in owned if p.requires_grad),
        macs=macs,
        parameter_bytes=sum(p.numel() * p.element_size() for p in owned),
        buffer_bytes=sum(b.numel() * b.element_size() for b in model.buffers()),
        activation_bytes=sum(row.output_bytes for row in rows if row.leaf),
        remarks=tuple(remarks),
    )
