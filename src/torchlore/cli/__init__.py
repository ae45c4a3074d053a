"""The commands: one file each, found by its path; only the one that runs is imported."""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import io
import os
import signal
import sys
from functools import cache, partial
from pathlib import Path
from typing import NoReturn

from torchlore import __version__, keep

EPILOG = "`lore COMMAND --help` tells the rest. `lore explain SLUG` shows the note behind a finding."


class Failure(Exception):
    """A command cannot go on; the message is one clear line for the user, the exit status 2 unless said otherwise."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the usage is for those who ask for it."""

    def error(self, message: str) -> NoReturn:
        """Argparse's own prints the whole usage first."""
        raise Failure(f"{message}; `{self.prog} --help` tells the rest")


@cache
def commands() -> dict[str, str]:
    """Command -> its summary: the first line of its file's docstring, read without importing it."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        text = path.read_text(encoding="utf-8")
        found[path.stem] = text.split('"""', 2)[1].split("\n", 1)[0].strip().rstrip(".")
    return found


def usage() -> str:
    """What `lore --help` prints."""
    width = max(map(len, commands()), default=0)
    rows = "\n".join(f"  {name:{width}}  {summary}" for name, summary in commands().items())
    head = "usage: lore COMMAND [OPTIONS]\n\nThe PyTorch notes everyone keeps, as software."
    return f"{head}\n\ncommands:\n{rows}\n\n  -V, --version, -h, --help\n\n{EPILOG}"


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status: 0 good, 1 findings or a failed claim, 2 usage or trouble."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if words else 2
    if words[0] in ("-V", "--version", "version"):
        print(f"torchlore {__version__}")
        return 0
    name = words[0].replace("-", "_")
    if name not in commands():
        near = difflib.get_close_matches(name, commands(), n=1)
        hint = f"did you mean `lore {near[0]}`?" if near else "`lore --help` lists the commands"
        print(f"lore: there is no command {words[0]!r}: {hint}", file=sys.stderr)
        return 2
    if argv is not None:
        return _run(name, words[1:])
    if name == "check":
        gc.disable()
    try:
        return _run(name, words[1:])
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the next one ends it, without a traceback
        print("interrupted", file=sys.stderr)
        return 130
    finally:
        if name != "watch":  # there the end is the user's program's
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # as above, while Python winds down
        if name == "check":
            gc.freeze()  # the trees go with the process: to collect them before it ends costs a tenth of the time


def _run(name: str, words: list[str]) -> int:
    with keep.bytecode():
        module = importlib.import_module(f"torchlore.cli.{name}")
    helps = "-h" in words or "--help" in words
    width = None if helps else 78  # to ask the terminal for it costs a tenth of the start-up
    layout = partial(argparse.RawDescriptionHelpFormatter, width=width)
    parser = Parser(prog=f"lore {name}", description=module.__doc__, formatter_class=layout)
    module.add_arguments(parser)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and name not in ("watch", "lsp"):  # there it is the program's
            stream.reconfigure(errors="replace")  # a terminal, or a name of a file, that is not UTF-8
    try:
        return int(module.run(_parsed(parser, words)))
    except Failure as failure:
        print(f"lore {name}: {failure}", file=sys.stderr)
        return failure.status
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("torchlore"):
            raise
        extra = f"install it with `pip install {missing.name}` or the extras with `pip install 'torchlore[all]'`"
        print(f"lore {name}: this needs the package {missing.name!r}, which is not installed: {extra}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output (`| head`) has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        print(f"lore {name}: {named}{error.strerror or error}", file=sys.stderr)
        return 2


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """The arguments; an option that is not there gets the nearest one, and not the whole usage."""
    args, strange = parser.parse_known_args(words)
    if strange and not strange[0].startswith("-"):
        raise Failure(f"{strange[0]!r} is one word too many; `{parser.prog} --help` tells what it takes")
    if strange:
        raise Failure(f"there is no option {strange[0]}{_nearest(strange[0], parser)}")
    return args


def _nearest(word: str, parser: argparse.ArgumentParser) -> str:
    """The option that was meant: one spelt alike, else the first whose help has the same words."""
    word = word.partition("=")[0]
    helps = {name: one.help or "" for one in parser._actions for name in one.option_strings}  # noqa: SLF001 - no other way
    words = word.lstrip("-").replace("-", " ").replace("_", " ")
    near = difflib.get_close_matches(word, helps, n=1) or [name for name, text in helps.items() if words in text]
    return f"; did you mean {near[0]}?" if near else f"; `{parser.prog} --help` lists them"
