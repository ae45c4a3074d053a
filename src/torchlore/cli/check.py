"""Find PyTorch traps in source without running it, and repair them with --fix.

Exit status: 0 nothing found, 1 findings, 2 usage or trouble. `lore explain SLUG` tells the whole story of a finding.
Silence one with `# lore: ignore[slug] reason` on its line; choose rules in `[tool.torchlore]` of pyproject.toml.
"""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from torchlore.check import config as configuration
from torchlore.check import output, runner
from torchlore.check.codes import slug_of
from torchlore.check.engine import Rule
from torchlore.check.files import Unreadable, discover
from torchlore.check.gate import words
from torchlore.check.program import program
from torchlore.cli import Failure
from torchlore.finding import Finding, Severity

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterable, Sequence

    from torchlore.check.config import Config
    from torchlore.check.runner import Report

FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab", "junit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `lore check`."""
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files or folders; `-` reads stdin")
    parser.add_argument("--fix", action="store_true", help="write the safe fixes")
    parser.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: also those that need a look")
    parser.add_argument("--diff", action="store_true", help="show what --fix would write, and write nothing")
    parser.add_argument("--format", choices=FORMATS, default="full", help="default: full")
    parser.add_argument("--select", metavar="SLUGS", help="only these rules, separated by commas")
    parser.add_argument("--ignore", metavar="SLUGS", help="without these rules")
    parser.add_argument("--hints", action="store_true", help="show hints too: slow, deprecated, fragile")
    parser.add_argument("--errors", action="store_true", help="show errors only")
    parser.add_argument("--statistics", action="store_true", help="how often each rule spoke")
    parser.add_argument("--explain", action="store_true", help="print the notes behind the findings")
    parser.add_argument("--force-exclude", action="store_true", help="leave out excluded files though they are named")
    parser.add_argument("--imports", action="store_true", help="also the project's files that these import")
    parser.add_argument("--markdown", action="store_true", help="also the Python blocks of .md files")
    parser.add_argument("--baseline", metavar="FILE", help="silence what is in it; written where it does not exist")
    parser.add_argument("--update-baseline", action="store_true", help="write the baseline anew")
    parser.add_argument("--since", metavar="REV", help="only lines changed since this git revision")
    parser.add_argument("--stdin-filename", metavar="FILE", default="<stdin>", help="what to call stdin")
    parser.add_argument("-j", "--jobs", type=int, default=0, help="worker processes; default: one a core")
    parser.add_argument("--no-cache", action="store_true", help="check every file anew")
    parser.add_argument(
        "--torch", action="store_true", help="ask the installed torch about misspelt and removed names and keywords"
    )


def run(args: argparse.Namespace) -> int:
    """Check, fix or show, and say how it went."""
    try:
        config = settings(args)
        rules = all_rules() | (_installed(args) if args.torch else {})
        config = replace(
            config, select=_named(config.select, rules), ignore=_named(config.ignore, rules), known=names()
        )
        _refuse(args, config, rules)
        if args.paths == ["-"]:
            return _stdin(args, rules, config)
        files, trouble = discover(args.paths, config, force=args.force_exclude)
        files = program(files) if args.imports else files
        if args.fix or args.diff:
            from torchlore.check.repair import repair

            repaired = repair(files, rules, config, unsafe=args.unsafe_fixes, write=args.fix and not args.diff)
            if args.diff:
                sys.stdout.write(repaired.diff)
                _troubles([*repaired.trouble, *trouble])
                return 2 if repaired.trouble or trouble else int(bool(repaired.diff))
            if repaired.fixed:
                _tell(f"{repaired.fixed} fixed in {repaired.files} {'file' if repaired.files == 1 else 'files'}")
        report = _checked(args, files, rules, config)
        files_read = len(files) - len(report.trouble)
        report.trouble.extend(trouble)
        return _show(args, report, config, files_read)
    except configuration.BrokenConfig as error:
        raise Failure(str(error)) from error


def all_rules() -> dict[str, Rule]:
    """The rules of the catalogue."""
    from torchlore.catalogue import notes, parts

    finds = parts("find")
    return {
        note.slug: Rule(note.slug, find, note.severity, words(find))
        for note in notes()
        if (find := finds.get(note.slug))
    }


def names() -> frozenset[str]:
    """Whatever a comment or a setting may name: also what only `lore watch` finds, and what has no note."""
    from torchlore.catalogue import notes
    from torchlore.check.suppress import UNUSED
    from torchlore.check.syntax import SYNTAX

    return frozenset((UNUSED, SYNTAX, *(note.slug for note in notes())))


def _refuse(args: argparse.Namespace, config: Config, rules: dict[str, Rule]) -> None:
    """What cannot be done as it was asked for."""
    quiet = (slug for _, slugs in config.per_file for slug in slugs)
    others = _named([*config.ignore, *quiet, *(slug for slug, _ in config.severity)], config.known)
    unknown = [slug for slug in config.select if slug not in rules] + [
        slug for slug in others if slug not in config.known
    ]
    if unknown:
        near = get_close_matches(unknown[0], rules, n=1)
        hint = f"did you mean {near[0]}?" if near else "`lore notes` lists them"
        raise Failure(f"no rule is called {unknown[0]!r}: {hint}")
    if args.update_baseline and not args.baseline:
        raise Failure("--update-baseline writes the file that --baseline names: give it too")
    if (args.fix or args.diff) and (args.baseline or args.since):
        raise Failure("--fix and --diff would also change what --baseline and --since leave out: give one or the other")


def _installed(args: argparse.Namespace) -> dict[str, Rule]:
    """The rule that speaks for the installed torch, which was asked about every name these files use."""
    from torchlore.check import engine, installed
    from torchlore.check.files import decode, read_bytes
    from torchlore.check.source import Source

    files, _ = discover(args.paths, configuration.load(Path(args.paths[0])))
    contents = ((path, read_bytes(path)) for path in files if path.endswith(".py"))
    texts = ((path, decode(path, data)) for path, data in contents if isinstance(data, bytes) and b"torch" in data)
    parsed = (engine.parse(text, path) for path, text in texts if isinstance(text, str))
    try:
        said, versions = installed.ask(one for one in parsed if isinstance(one, Source))
    except installed.Trouble as trouble:
        raise Failure(f"--torch: the installed torch cannot be asked ({trouble})") from None
    args.no_cache, args.jobs = True, 1  # the answers belong to this run and this process
    return {installed.SLUG: Rule(installed.SLUG, installed.rule(said, versions), Severity.ERROR)}


def settings(args: argparse.Namespace) -> Config:
    """The settings of the project, overridden by the flags."""
    first = args.paths[0] if args.paths[0] != "-" else args.stdin_filename
    config = configuration.load(Path(first))
    if args.select:
        config = replace(config, select=_slugs(args.select))
    if args.ignore:
        config = replace(config, ignore=(*config.ignore, *_slugs(args.ignore)))
    show = Severity.HINT if args.hints else Severity.ERROR if args.errors else config.show
    return replace(config, show=show, markdown=config.markdown or args.markdown)


def _named(words: Iterable[str], slugs: Collection[str]) -> tuple[str, ...]:
    """Slugs, where some may be given by their code."""
    return tuple(slug_of(word, slugs) for word in words)


def _slugs(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _checked(args: argparse.Namespace, files: Sequence[str], rules: dict[str, Rule], config: Config) -> Report:
    cache = None
    if not args.no_cache and len(files) > 1:
        from torchlore.check.cache import Cache, rules_digest

        home = Path(__file__).parent.parent
        choices = f"{config}{sorted(config.known)}"
        cache = Cache(str(Path.cwd()), rules_digest([home / "check", home / "notes"], choices))
    jobs = args.jobs or os.cpu_count() or 1
    was_on = gc.isenabled()
    gc.disable()
    try:
        return runner.check(files, rules, config, jobs=jobs, cache=cache)
    finally:
        if was_on:
            gc.enable()


def _stdin(args: argparse.Namespace, rules: dict[str, Rule], config: Config) -> int:
    data, path = sys.stdin.buffer.read(), args.stdin_filename
    if args.fix or args.diff:
        from torchlore.check.repair import changes, repair_bytes

        fixed, _ = repair_bytes(path, data, rules, config, unsafe=args.unsafe_fixes)
        if args.diff:
            sys.stdout.write(changes(path, data, fixed))
            return int(fixed != data)
        sys.stdout.buffer.write(fixed)
        return 0
    from torchlore.check.project import Project

    work = runner.Work(rules, config, Project(torch=config.torch))
    said = runner.check_bytes(path, data, work) if b"torch" in data else []
    return _show(args, runner.report(said), config, 1, data)


def _show(args: argparse.Namespace, report: Report, config: Config, files: int, stdin: bytes = b"") -> int:
    lines = Texts(args.stdin_filename, stdin).lines
    findings = [one for one in report.findings if runner.shown(one, config)]
    hidden = sum(one.severity is Severity.HINT for one in report.findings) - sum(
        one.severity is Severity.HINT for one in findings
    )
    if args.since:
        from torchlore.check import history

        places = [args.stdin_filename if path == "-" else path for path in args.paths]
        changed = history.changed_lines(args.since, map(Path, places))
        findings = [one for one in findings if history.touched(one, changed)]
    if args.baseline:
        findings = _without_known(args, findings, lines)
    text = _written(args, findings, lines, hidden, files)
    if text and (files or args.format != "full" or not report.trouble):
        print(text)
    _troubles((*report.trouble, *report.failures))
    if report.failures or any(isinstance(one, Unreadable) for one in report.trouble):
        return 2
    return 1 if findings else 0


def _troubles(found: Iterable[object]) -> None:
    for one in found:
        _tell(str(one))


def _without_known(args: argparse.Namespace, findings: list[Finding], lines: object) -> list[Finding]:
    from torchlore.check import history

    file = Path(args.baseline)
    named = history.keys(findings, lines, file.absolute().parent)  # type: ignore[arg-type]  # a bound method
    if file.exists() and not args.update_baseline:
        return history.new_since_baseline(file, findings, named)
    history.write_baseline(file, named)
    _tell(f"{len(named)} findings written to {file}: only new ones will be shown")
    return []


def _written(args: argparse.Namespace, findings: list[Finding], lines: object, hidden: int, files: int) -> str:
    if args.statistics:
        return output.statistics(findings)
    if args.format == "full":
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        text = output.full(findings, lines, colour=colour)  # type: ignore[arg-type]  # a bound method
        end = output.summary(findings, hidden, files, new=bool(args.baseline or args.since))
        notes = f"\n\n{_notes(findings)}" if args.explain and findings else ""
        return f"{text}{notes}\n\n{end}" if text else end
    if args.format == "concise":
        return output.concise(findings) + (f"\n\n{_notes(findings)}" if args.explain and findings else "")
    if args.format == "sarif":
        return output.sarif(findings, _titles(findings), lines)  # type: ignore[arg-type]  # a bound method
    plain = {"json": output.as_json, "github": output.github, "gitlab": output.gitlab, "junit": output.junit}
    return plain[args.format](findings)


def _titles(findings: Sequence[Finding]) -> dict[str, str]:
    from torchlore.catalogue import notes

    wanted = {one.slug for one in findings}
    return {note.slug: note.title for note in notes() if note.slug in wanted}


def _notes(findings: Sequence[Finding]) -> str:
    from torchlore.catalogue import notes

    wanted = {one.slug for one in findings}
    return "\n\n".join(f"{note.slug}: {note.title}\n\n{note.text}" for note in notes() if note.slug in wanted)


def _tell(text: str) -> None:
    print(f"lore check: {text}", file=sys.stderr)


class Texts:
    """The lines of the files that findings stand in, read once each."""

    def __init__(self, stdin_name: str, stdin: bytes) -> None:
        self._known: dict[str, list[str]] = {}
        if stdin:
            self._known[stdin_name] = stdin.decode(errors="replace").split("\n")

    def lines(self, path: str) -> list[str]:
        """The lines of a file, or of a notebook's cell."""
        if path not in self._known:
            file, cell = output.file_and_cell(path)
            try:
                text = Path(file).read_text(encoding="utf-8", errors="replace")
                if cell:
                    from torchlore.check.documents import notebook

                    text = next(one.source for one in notebook(text).cells if str(one.number) == cell)
            except OSError:
                text = ""
            self._known[path] = text.split("\n")
        return self._known[path]
