"""The commands as a user meets them: what they print, how they end, what they say to bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from torchlore import __version__
from torchlore.catalogue import Note, notes
from torchlore.cli import commands, main
from torchlore.cli.verify import line as verdict_line
from torchlore.verify import Outcome, isolated, judge


def lore(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torchlore", *words], capture_output=True, text=True, cwd=cwd, check=False
    )


def one_line(text: str) -> bool:
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text


def test_help_lists_every_command_with_its_summary() -> None:
    done = lore("--help")
    assert done.returncode == 0
    assert all(name in done.stdout and summary in done.stdout for name, summary in commands().items())
    assert lore().returncode == 2
    assert lore("--version").stdout.strip() == f"torchlore {__version__}"


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help(name: str) -> None:
    done = lore(name, "--help")
    assert done.returncode == 0
    assert "usage: lore " + name in done.stdout


def test_an_unknown_command_gets_a_suggestion() -> None:
    done = lore("explan", "x")
    assert done.returncode == 2
    assert one_line(done.stderr)
    assert "did you mean `lore explain`?" in done.stderr


def test_an_unknown_slug_gets_the_nearest() -> None:
    for command in ("explain", "verify"):
        done = lore(command, "conv-output-sise")
        assert done.returncode == 2
        assert one_line(done.stderr)
        assert "conv-output-size" in done.stderr


def test_notes_are_listed_and_searched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notes", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["slug"] for one in listed] == [note.slug for note in notes()]
    assert main(["notes", "dilation", "stride", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "conv-output-size" in {one["slug"] for one in found}
    assert len(found) < len(listed)
    assert main(["notes", "no-such-word-anywhere"]) == 1
    assert one_line(capsys.readouterr().err)


def test_explain_shows_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "conv-output-size", "--raw"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# A convolution's output size")
    assert "lore verify conv-output-size" in text


def test_a_pipe_that_closes_early_is_no_error() -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {sys.executable} -m torchlore notes --json | head -1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr


def test_an_output_that_cannot_show_a_letter_is_no_error() -> None:
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    words = (sys.executable, "-m", "torchlore", "explain", "softmax-before-cross-entropy")
    done = subprocess.run(words, env=plain, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()


def test_a_file_that_cannot_be_written_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["notes", "--build", "/dev/null/site"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_verify_on_a_gpu_that_is_not_there_judges_no_claim() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "torchlore", "verify", "--device", "cuda", "discarded-move"],
        capture_output=True, text=True, check=False, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("words", [("--workers", "-1"), ("--prefetch", "0"), ("--batch-mib", "nan")])
def test_doctor_refuses_settings_no_loader_has(capsys: pytest.CaptureFixture[str], words: tuple[str, str]) -> None:
    assert main(["doctor", *words]) == 2
    assert capsys.readouterr().out == ""


def test_verify_says_what_holds_as_json() -> None:
    done = lore("verify", "conv-output-size", "--json")
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)["verdicts"]
    assert [(v["slug"], v["outcome"]) for v in verdicts] == [("conv-output-size", "holds")]


def test_a_claim_that_fails_is_one_line(tmp_path: Path) -> None:
    broken = Note(tmp_path / "room" / "sky_is_green")

    def claim() -> None:
        assert "sky".isupper(), "it is blue"

    broken.__dict__["module"] = SimpleNamespace(claim=claim)
    verdict = judge(broken, "cpu")
    assert verdict.outcome is Outcome.FAILS
    assert verdict.reason.startswith("AssertionError: it is blue")
    assert one_line(verdict_line(verdict))


def test_a_claim_that_raises_dies_or_hangs_is_told_in_one_line() -> None:
    def raises() -> None:
        raise ValueError("it is blue")

    def dies() -> None:
        import os

        os.abort()

    def hangs() -> None:
        import time

        time.sleep(60)

    assert isolated(lambda: None) == ""
    assert isolated(raises) == "ValueError: it is blue"
    assert isolated(dies) == "its process died of signal SIGABRT"
    assert isolated(hangs, timeout=0.2) == "it took longer than 0 s"


def test_a_new_note_is_three_files_in_a_known_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torchlore.cli.note.NOTES", tmp_path)
    (tmp_path / "layers").mkdir()
    assert main(["note", "new", "layers/odd-kernel"]) == 0
    assert sorted(p.name for p in (tmp_path / "layers" / "odd_kernel").iterdir()) == ["bad.py", "good.py", "note.py"]
    assert main(["note", "new", "layers/odd-kernel"]) == 2
    assert main(["note", "new", "nowhere/odd-kernel"]) == 2
    assert main(["note", "new", "layers/Odd Kernel"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_rules_are_compiled_once_where_python_keeps_no_bytecode(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import torch\n", encoding="utf-8")
    kept, beside = tmp_path / "cache", tmp_path / "beside"
    mine = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(beside), "TORCHLORE_CACHE": str(kept)}
    command = [sys.executable, "-m", "torchlore", "check", "--no-cache", "one.py"]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, env=os.environ | mine, check=True)
    compiled = sorted(path.name for path in kept.rglob("*.pyc"))
    assert any(name.startswith("note.") for name in compiled)
    assert not beside.exists()
    kept.joinpath("bytecode").chmod(0o500)  # a cache that cannot be written is no reason to fail
    subprocess.run(command, cwd=tmp_path, env=os.environ | mine, check=True)
