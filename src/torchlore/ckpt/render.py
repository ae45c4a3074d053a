"""Print what is known about checkpoints; tables on a terminal, plain lines elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchlore.ckpt.names import Verdict
from torchlore.ckpt.overview import clean, lines, many, say, size, tree
from torchlore.finding import Severity

if TYPE_CHECKING:
    from rich.console import Console

    from torchlore.ckpt.convert import Difference, Written
    from torchlore.ckpt.match import Match
    from torchlore.ckpt.scan import Report
    from torchlore.ckpt.torchfile import Checkpoint

COLOURS = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
VERDICTS = {Verdict.DANGEROUS: "bold red", Verdict.UNKNOWN: "yellow", Verdict.ALLOWED: "green"}


def console() -> Console:
    """A console that keeps lines whole when nobody reads along."""
    from rich.console import Console

    out = Console(highlight=False, markup=False, emoji=False)
    return out if out.is_terminal else Console(highlight=False, markup=False, emoji=False, width=200, no_color=True)


def _table(*columns: str, right: tuple[int, ...] = ()) -> Any:
    from rich.table import Table

    table = Table(box=None, show_header=any(columns), header_style="dim", padding=(0, 2, 0, 0), show_edge=False)
    for number, column in enumerate(columns):
        table.add_column(
            column, justify="right" if number in right else "left", no_wrap=number in right, overflow="fold"
        )
    return table


def show(checkpoint: Checkpoint, told: dict[str, Any], verdict: Verdict, limit: int) -> None:
    """`lore ckpt show`."""
    out = console()
    out.print(clean(told["path"], 400), style="bold")
    table = _table("", "")
    for name, text in _facts(told, verdict):
        table.add_row(_dim(name), text)
    out.print(table)
    out.print()
    _tree(out, checkpoint, limit)
    for finding in told["findings"]:
        severity = Severity(finding["severity"])
        out.print()
        out.print(str(severity), style=COLOURS[severity], end=" ")
        evidence = f" ({finding['evidence']})" if finding["evidence"] else ""
        out.print(clean(finding["message"], 400) + evidence, end=" ")
        out.print(f"[{finding['slug']}]", style="dim")


def _dim(text: str) -> Any:
    from rich.text import Text

    return Text(text, style="dim")


def _facts(told: dict[str, Any], verdict: Verdict) -> list[tuple[str, Any]]:
    from rich.text import Text

    details = ", ".join(
        f"{key} {value}" for key, value in told["details"].items() if key not in ("attributes", "metadata")
    )
    rows: list[tuple[str, Any]] = [
        ("format", told["format"] + (f" ({details})" if details else "")),
        ("size", f"{size(told['file_bytes'])} on disk, {told['tensors']:,} tensors of {size(told['tensor_bytes'])}"),
    ]
    if told["weights"] is not None:
        where = f"in {clean(told['weights'])!r}, " if told["weights"] else ""
        kinds = ", ".join(f"{dtype} x{count}" for dtype, count in told["dtypes"].items())
        rows.append(("weights", f"{where}{told['parameters']:,} parameters, {kinds}"))
    others = [name for name in told["groups"] if name != told["weights"]]
    if others:
        rows.append(
            ("also", ", ".join(clean(name) + (" (EMA)" if told["groups"][name]["ema"] else "") for name in others[:12]))
        )
    if told["prefix"]:
        rows.append(("prefix", told["prefix"]))
    rows.append(("devices", ", ".join(f"{clean(device)} x{count}" for device, count in told["devices"].items())))
    if told["facts"]:
        rows.append(("values", ", ".join(f"{key} {value}" for key, value in list(told["facts"].items())[:12])))
    resume = told["resume"]
    if any(resume.values()):
        rows.append(
            ("resume", ", ".join(f"{need}: {clean(key) if key else 'missing'}" for need, key in resume.items()))
        )
    rows.append(("safety", Text(_SAFETY[verdict], style=VERDICTS[verdict])))
    return rows


_SAFETY = {
    Verdict.ALLOWED: "nothing in it but tensors and plain data",
    Verdict.UNKNOWN: "it would import code that is not known here; see `lore ckpt scan`",
    Verdict.DANGEROUS: "it would run code when it is loaded; see `lore ckpt scan`",
}


def _tree(out: Console, checkpoint: Checkpoint, limit: int) -> None:
    table = _table("key", "shape", "dtype", "size", right=(3,))
    closed = False
    for depth, node, is_open in lines(tree(checkpoint.root), limit):
        shape, dtype, nbytes = say(node)
        branch = bool(node.below)
        closed |= branch and not is_open
        mark = ("- " if is_open else "+ ") if branch else "  "
        table.add_row("  " * depth + mark + clean(node.name, 80), shape, dtype, nbytes)
    out.print(table)
    if closed:
        out.print(f"+ marks what is closed; --lines {limit * 8} opens more, --lines 0 all", style="dim")


def scan(reports: list[Report], *, everything: bool) -> None:
    """`lore ckpt scan`."""
    out = console()
    for report in reports:
        verdict = report.verdict
        if not everything and verdict is Verdict.ALLOWED and len(reports) > 1 and not report.pickles:
            continue
        label = "error" if report.error and verdict is not Verdict.DANGEROUS else str(verdict)
        out.print(f"{label:9}", style=VERDICTS[verdict], end=" ")
        out.print(clean(report.path, 400), end=" ")
        out.print(f"({report.kind}, {many(report.pickles, 'pickle')})", style="dim")
        if report.error:
            out.print(f"  {clean(report.error, 400)}")
        _uses(out, report, everything=everything)
    counts = {verdict: sum(report.verdict is verdict for report in reports) for verdict in Verdict}
    out.print(
        f"{many(len(reports), 'file')}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()),
        style="dim",
    )


def _uses(out: Console, report: Report, *, everything: bool) -> None:
    chosen = report.uses if everything else report.worst()
    if not chosen:
        return
    from rich.text import Text

    table = _table("", "verdict", "name", "where", "what it does")
    for use in chosen[:50]:
        does = f"{use.how}; {use.reason}" if use.reason else use.how
        table.add_row(
            " ",
            Text(str(use.verdict), style=VERDICTS[use.verdict]),
            clean(use.what, 80),
            clean(use.where, 100),
            clean(does, 300),
        )
    out.print(table)
    if len(chosen) > 50:
        out.print(f"  … and {len(chosen) - 50} more; --json has them all", style="dim")


def match(found: Match, source: str, model: str) -> None:
    """`lore ckpt match`."""
    out = console()
    renamed = len(found.mapping) - found.exact
    out.print(f"{len(found.mapping)} of {found.total} keys of {clean(model)} fit", style="bold", end="")
    out.print(f", {found.exact} by name and {renamed} by renaming" if renamed else "")
    for rule in found.rules:
        out.print(f"  {clean(rule, 200)}", style="cyan")
    if found.misfits:
        table = _table("does not fit", "checkpoint", "model", "why")
        for misfit in found.misfits[:40]:
            table.add_row(clean(misfit.target, 80), str(misfit.have), str(misfit.want), misfit.reason)
        out.print()
        out.print(table)
    if found.dtypes:
        pairs = sorted({f"{have} to {want}" for have, want in found.dtypes.values()})
        out.print(f"\n{len(found.dtypes)} tensors are cast when they are loaded: {', '.join(pairs)}")
    _names(out, found.missing, "the model wants, and the checkpoint lacks")
    _names(out, found.unused, "the checkpoint has, and the model does not want")
    if found.complete and not found.rules:
        out.print(f"\n{clean(source)} loads with strict=True as it is", style="green")


def _names(out: Console, names: list[str], title: str, limit: int = 12) -> None:
    if names:
        out.print(f"\n{len(names)} keys {title}:", style="yellow")
        out.print("  " + ", ".join(clean(name, 80) for name in names[:limit]) + (", …" if len(names) > limit else ""))


def diff(found: Difference, first: str, second: str, limit: int) -> None:
    """`lore ckpt diff`."""
    out = console()
    if found.equal:
        out.print(f"equal: all {found.same} tensors have the same numbers", style="green")
        return
    out.print(f"{found.same} tensors are equal, {len(found.changes)} differ", style="bold")
    _names(out, found.only_first, f"only in {clean(first)}")
    _names(out, found.only_second, f"only in {clean(second)}")
    _names(out, found.unread, "that could not be read whole")
    if found.shapes or found.dtypes:
        table = _table("key", "first", "second")
        for key, (a, b) in [*found.shapes.items(), *found.dtypes.items()][:limit]:
            table.add_row(clean(key, 80), str(a), str(b))
        out.print()
        out.print(table)
    if found.changes:
        table = _table("key", "relative", "largest", "numbers", right=(1, 2, 3))
        for change in found.changes[:limit]:
            table.add_row(clean(change.key, 80), f"{change.relative:.3g}", f"{change.largest:.3g}", f"{change.numel:,}")
        out.print()
        out.print(table)
        if len(found.changes) > limit:
            out.print(f"… and {len(found.changes) - limit} smaller ones; --lines shows more", style="dim")


def written(done: Written) -> None:
    """What convert, average, match --apply and repair have written."""
    out = console()
    out.print(f"wrote {clean(done.path, 400)}: {done.tensors:,} tensors, {size(done.nbytes)}", style="green")
    for note in done.notes[:20]:
        out.print(f"  {clean(note, 300)}", style="yellow")
    if len(done.notes) > 20:
        out.print(f"  … and {len(done.notes) - 20} more", style="yellow")
