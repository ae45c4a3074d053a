"""Run the claims of notes, each in a process of its own, and say which hold here.

The parent never imports torch. Each worker imports it once and then forks a child a note, so that a claim may change
global state, use CUDA for the first time or die without harming the next one.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import multiprocessing.connection
import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torchlore.catalogue import Note, note

TIMEOUT = 120.0  # seconds one claim may take


class Outcome(StrEnum):
    """What running a claim showed."""

    HOLDS = "holds"
    FAILS = "does not hold here"
    ABSENT = "needs what is absent"


@dataclass(frozen=True)
class Verdict:
    """One note, run."""

    slug: str
    outcome: Outcome
    reason: str  # one line: what failed, or what is missing
    seconds: float


def absent(one: Note, device: str) -> str:
    """Why this note cannot run on this machine; "" if it can."""
    for need in one.facts("NEEDS"):
        if need == "cuda" and device != "cuda":
            return "a CUDA device (`--device cuda`)"
        if need == "two-processes" and not hasattr(os, "fork"):
            return "a system that can fork"
        if need not in ("cuda", "two-processes") and importlib.util.find_spec(need) is None:
            return f"the package {need}"
    return ""


def run_script(path: str) -> dict[str, Any]:
    """Run bad.py or good.py as a user would, from a fixed seed, and return its `result`."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # a script that falls into a trap may be warned; that is no error
        return dict(runpy.run_path(path, run_name="__main__")["result"])


def run_alone(path: str) -> dict[str, Any]:
    """Run a script in a fresh interpreter: CUDA's first use and its environment can be had only once a process."""
    code = "import json, runpy, sys; print(json.dumps(runpy.run_path(sys.argv[1], run_name='__main__')['result']))"
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _needs_itself(one: Note) -> bool:
    """Whether its scripts need an interpreter each: beside a GPU a backward pass starts threads that a fork cannot take along."""
    import torch

    needs = one.facts("NEEDS")
    return "cuda" in needs or ("two-processes" in needs and torch.cuda.is_available())


def run_claim(one: Note, device: str) -> None:
    """Run the note's claim in this process, from a fixed seed; it raises if the claim does not hold."""
    import torch

    claim = one.part("claim")
    if claim is None:
        raise AssertionError("the note has no claim()")
    runner = run_alone if _needs_itself(one) else run_script
    arguments = [runner(str(one.script(name))) for name in ("bad", "good")] if one.is_trap else []
    keywords = {"device": device} if one.wants("device") else {}
    torch.manual_seed(0)
    claim(*arguments, **keywords)


def isolated(work: Callable[[], Any], timeout: float = TIMEOUT) -> str:
    """Run this in a forked child with its output silenced; "" if it went well, else one line that says what happened."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _as_child(work, writer)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as pipe:
            message, status = _await(child, pipe.fileno(), timeout)
    except TimeoutError:
        return f"it took longer than {timeout:.0f} s"
    if status < 0:
        return f"its process died of signal {signal.Signals(-status).name}"
    return message


def _as_child(work: Callable[[], Any], writer: int) -> None:
    status, message = 0, ""
    os.setpgrp()  # so that a claim's own processes end with it
    try:
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        work()
    except BaseException as error:  # noqa: BLE001 - whatever a claim raises is its verdict, and is reported
        status, message = 1, describe(error)
    os.write(writer, message.encode()[:4000])
    os._exit(status)


def _await(child: int, pipe: int, timeout: float) -> tuple[str, int]:
    import select

    deadline, text = time.monotonic() + timeout, b""
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError
        part = os.read(pipe, 4096)
        text += part
        if not part:
            break
    _, status = os.waitpid(child, 0)
    return text.decode(errors="replace"), os.waitstatus_to_exitcode(status)


def describe(error: BaseException) -> str:
    """One line: the kind of error, its message, and the line of the note it came from."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if f"{os.sep}notes{os.sep}" in frame.filename
    ]
    last = frames[-1] if frames else None
    place = f" ({os.path.basename(last.filename)}:{last.lineno}: {last.line})" if last else ""  # noqa: PTH119 - a string, not a path to open
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"


def verify(slugs: Sequence[str], device: str = "cpu", jobs: int = 2) -> Iterator[Verdict]:
    """Verdicts as they come in, in no fixed order; notes about the GPU run one at a time, undisturbed."""
    alone = [slug for slug in slugs if device == "cuda" and "cuda" in note(slug).facts("NEEDS")]
    yield from _verify([slug for slug in slugs if slug not in set(alone)], device, jobs)
    yield from _verify(alone, device, 1)


def _verify(slugs: Sequence[str], device: str, jobs: int) -> Iterator[Verdict]:
    if not slugs:
        return
    context = multiprocessing.get_context("spawn")
    todo = context.SimpleQueue()  # a plain Queue has a thread, and a process with threads must not fork
    for slug in slugs:
        todo.put(slug)
    workers = []
    for _ in range(max(1, min(jobs, len(slugs)))):
        todo.put(None)
        reader, writer = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(todo, writer, device))
        worker.start()
        writer.close()
        workers.append((worker, reader))
    try:
        yield from _collect([reader for _, reader in workers], len(slugs))
    finally:  # also when the caller stops listening, as at Ctrl-C
        for worker, _ in workers:
            worker.terminate()
            worker.join()


def _collect(readers: list[Any], left: int) -> Iterator[Verdict]:
    while left:
        if not readers:
            raise RuntimeError("the worker processes died; `lore verify -j 1` shows which note does it")
        spoken: list[Any] = multiprocessing.connection.wait(readers)
        for reader in spoken:
            try:
                verdict: Verdict = reader.recv()
            except EOFError:
                readers.remove(reader)
                continue
            left -= 1
            yield verdict


def _work(todo: Any, writer: Any, device: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    multiprocessing.set_start_method(None, force=True)  # a claim's own processes start as they do in a user's script
    warm()
    while (slug := todo.get()) is not None:
        writer.send(judge(note(slug), device))
    writer.close()


def warm() -> None:
    """Import what nearly every claim needs, once, so that each forked child has it."""
    if importlib.util.find_spec("torch") is not None:
        import torch._dynamo  # the first optimizer step imports it, which takes seconds
        import torch.utils.data  # noqa: F401 - for the children


def judge(one: Note, device: str) -> Verdict:
    """The verdict on one note, run in a child of this process."""
    missing = absent(one, device)
    if importlib.util.find_spec("torch") is None:
        missing = missing or "the package torch"
    if missing:
        return Verdict(one.slug, Outcome.ABSENT, missing, 0.0)
    start = time.perf_counter()
    reason = isolated(lambda: run_claim(one, device))
    return Verdict(one.slug, Outcome.FAILS if reason else Outcome.HOLDS, reason, time.perf_counter() - start)
