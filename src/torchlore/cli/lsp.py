"""Serve an editor over stdio: findings as you type, the note on hover, fixes as quick fixes."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Only the transport, which editors like to name."""
    parser.add_argument("--stdio", action="store_true", help="speak over standard input and output (always so)")


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 - the one flag changes nothing
    """Serve until the editor leaves."""
    from torchlore.cli.check import all_rules
    from torchlore.editor import server

    server(all_rules()).start_io()
    return 0
