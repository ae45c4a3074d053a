"""`lore watch` runs a program as `python` does: same arguments, output, tracebacks and exit status."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from torchlore.finding import Finding, Severity
from torchlore.watch.probes_step import every_second
from torchlore.watch.reading import Reading
from torchlore.watch.records import Point
from torchlore.watch.session import Options

TRAIN = """
import sys, torch
from torch import nn
print(sys.argv[1:], __name__, __file__, sys.path[0])
torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(40):
    loss = model(torch.randn(8, 4)).pow(2).sum()
    loss.backward()
    optimizer.step()
print(loss.item(), torch.rand(1).item())
"""


def run(*words, cwd, **kwargs):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, capture_output=True, text=True, env=environment, check=False, **kwargs
    )


def watched(*words, cwd, **kwargs):
    return run("-m", "torchlore", "watch", *words, cwd=cwd, **kwargs)


def test_output_and_findings(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    plain = run("train.py", "--epochs", "3", cwd=tmp_path)
    files = ["--json", "out.json", "--html", "out.html"]
    seen = watched("--only", "missing-zero-grad", *files, "train.py", "--epochs", "3", cwd=tmp_path)
    assert seen.stdout == plain.stdout
    assert (plain.returncode, seen.returncode) == (0, 0)
    found = re.findall(r"^([^:\n]+):(\d+): (.*)$", seen.stderr, re.MULTILINE)
    assert [(path, line) for path, line, _ in found if path == "train.py"] == [("train.py", "11")]
    assert re.search(r"watch: 1 finding in 40 steps; watch cost [\d.]+ % of [\d.]+ s( \(.+\))?$", seen.stderr.strip())
    facts = json.loads((tmp_path / "out.json").read_text())
    assert [one["slug"] for one in facts["findings"]] == ["missing-zero-grad"]
    assert facts["history"][-1]["step"] == 40
    page = (tmp_path / "out.html").read_text()
    assert "missing-zero-grad" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "<script" not in page


@pytest.mark.parametrize(
    "ending",
    [
        "raise ValueError('broken')",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a message')",
        "def f():\n    return 1 / 0\ntry:\n    f()\nexcept ZeroDivisionError as error:\n    raise KeyError('x') from error",
        "class Odd(Exception): pass\nraise Odd",
        "this is no python",
    ],
)
def test_a_program_ends_as_with_python(tmp_path, ending):
    (tmp_path / "script.py").write_text(f"import os\nprint('begun', os.getcwd())\n{ending}\n")
    plain, seen = run("script.py", cwd=tmp_path), watched("-q", "script.py", cwd=tmp_path)
    assert (seen.returncode, seen.stdout) == (plain.returncode, plain.stdout)
    assert seen.stderr.replace(str(tmp_path / "script.py"), "script.py") == plain.stderr.replace(
        str(tmp_path / "script.py"), "script.py"
    )


def test_modules_and_code(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys; print(sys.argv, __name__, __package__, __spec__.name)")
    for words in (
        ["-m", "package", "-x", "1"],
        ["-m", "package.__main__"],
        ["-c", "import sys; print(sys.argv)", "-y"],
    ):
        plain, seen = run(*words, cwd=tmp_path), watched("-q", *words, cwd=tmp_path)
        assert (seen.stdout, seen.returncode) == (plain.stdout, plain.returncode)
    missing = watched("-m", "no.such", cwd=tmp_path)
    assert missing.returncode == 2
    assert "no" in missing.stderr
    assert watched("gone.py", cwd=tmp_path).returncode == 2


PARTS = """import torch

def fill(model, weights):
    model.state_dict().update(weights)


def fill_again(model, weights):
    model.state_dict().update(weights)  # lore: ignore[state-dict-changed-in-vain] shown in the talk
"""


def test_the_source_is_read_too(tmp_path):
    """What only the source shows is told beside what the run shows, and a trap that both show is told once."""
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "elsewhere.py").write_text(PARTS)
    (tmp_path / "train.py").write_text(TRAIN.replace("model = nn", "from parts import fill\nmodel = nn"))
    seen = watched("--json", "out.json", "--html", "out.html", "train.py", cwd=tmp_path)
    assert seen.stdout.startswith("[] __main__")
    page = (tmp_path / "out.html").read_text()
    assert "read in the source</span>" in page
    assert (
        page.count("<title>missing-zero-grad") > 0 == page.count("<title>state-dict-changed-in-vain")
    )  # it has no step
    facts = json.loads((tmp_path / "out.json").read_text())
    told = [(one["slug"], one["path"], one["line"], one["evidence"], one["step"]) for one in facts["findings"]]
    read, ran = ("state-dict-changed-in-vain", "parts.py", 4), ("missing-zero-grad", "train.py", 12)
    assert [one[:3] for one in told] == [ran, read]  # what ran is certain
    assert told[1][3:] == ("read in the source", None)
    assert told[0][4] > 0
    assert seen.stderr.count("watch: warning missing-zero-grad at train.py") == 1  # by the source, before it ran
    assert "watch: error missing-zero-grad" not in seen.stderr

    unread = watched("--no-source", "--ignore", "missing-zero-grad", "train.py", cwd=tmp_path)
    assert "watch: nothing found in 40 steps" in unread.stderr
    chosen = watched("--only", "state-dict-changed-in-vain", "--fail-on", "warning", "train.py", cwd=tmp_path)
    assert (chosen.returncode, chosen.stderr.count("missing-zero-grad")) == (1, 0)


def test_what_both_show_is_told_at_the_line_to_change():
    """Where it is one trap in one file; two of a kind may be two different ones."""
    reading = Reading(Options())
    read = Finding("loss-is-nan", "read", Severity.ERROR, "train.py", 4, evidence="read in the source")
    seen = Finding("loss-is-nan", "seen", Severity.ERROR, "train.py", 30, step=3, evidence="at backward 3")
    reading.findings = [read]
    assert reading.together([seen]) == [replace(seen, line=4, evidence="at backward 3; it shows in line 30")]
    assert reading.together([]) == [read]
    assert reading.together([seen, replace(seen, line=31)]) == [seen, replace(seen, line=31)]
    assert reading.together([replace(seen, path="other.py")]) == [replace(seen, path="other.py"), read]


def test_a_question_for_torch_is_no_import(tmp_path):
    """Libraries ask `find_spec("torch")` whether it is there before they import it."""
    (tmp_path / "train.py").write_text(f"import importlib.util\nimportlib.util.find_spec('torch')\n{TRAIN}")
    seen = watched("--no-source", "--only", "missing-zero-grad", "train.py", cwd=tmp_path)
    assert "watch: 1 finding in 40 steps" in seen.stderr


def test_a_program_without_torch_loads_none(tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys\nprint('torch' in sys.modules, 'torchlore.catalogue' in sys.modules)"
    )
    assert watched("-q", "script.py", cwd=tmp_path).stdout.split()[0] == "False"


def test_stopping_and_failing(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    seen = watched("--steps", "5", "--fail-on", "error", "--only", "missing-zero-grad", "train.py", cwd=tmp_path)
    assert seen.stdout.count("\n") == 1, "the program did not reach its last print"
    assert "in 5 steps" in seen.stderr
    assert seen.returncode == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--only", "missing-zero-gra"], "did you mean missing-zero-grad"),
        (["--only", "zero-grad-sets-none"], "neither a running program nor its source shows"),
        (["--ignore", "nothing-at-all"], "no note is called 'nothing-at-all'"),
        (["--json", "nowhere/out.json"], "cannot write nowhere/out.json: No such file or directory"),
        (["--steps", "-1"], "--steps is 0 or more"),
        (["--share", "200"], "got 0 and 200"),
    ],
)
def test_what_cannot_be_done_is_told_before_the_program_runs(tmp_path, words, told):
    (tmp_path / "train.py").write_text("print('it ran')\n")
    seen = watched(*words, "train.py", cwd=tmp_path)
    assert (seen.returncode, seen.stdout) == (2, "")
    assert told in seen.stderr
    assert seen.stderr.count("\n") == 1, "one line"


def test_a_report_goes_where_it_was_asked_for(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "script.py").write_text("import os\nos.chdir('elsewhere')\n")
    seen = watched("--json", "out.json", "script.py", cwd=tmp_path)
    assert json.loads((tmp_path / "out.json").read_text())["status"] == 0
    assert seen.stderr == "watch: the program has not imported torch\n"


def test_ctrl_c_ends_as_with_python(tmp_path):
    (tmp_path / "script.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    words = [sys.executable, "-m", "torchlore", "watch", "script.py"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors
    assert "watch: the program has not imported torch" in errors
    assert "torchlore" not in errors.partition("KeyboardInterrupt")[0]


@pytest.mark.parametrize("own", [False, True])
def test_sigterm_loses_no_finding_and_ends_as_with_python(tmp_path, own):
    begins = "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n" if own else ""
    waits = "\ntry:\n    print('ready', flush=True)\n    time.sleep(60)\nfinally:\n    print('left', flush=True)\n"
    (tmp_path / "script.py").write_text(f"{begins}import time\nimport torch\ntorch.no_grad(){waits}")
    words = [sys.executable, "-m", "torchlore", "watch", "--json", "out.json", "script.py"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == (3 if own else -signal.SIGTERM)
    assert output == ("left\n" if own else "")  # the signal runs no `finally`
    assert "watch: findings:" in errors
    assert "grad-context-as-statement" in errors
    assert json.loads((tmp_path / "out.json").read_text())["status"] == (3 if own else 128 + signal.SIGTERM)


def test_children_are_watched_too(tmp_path):
    (tmp_path / "train.py").write_text(TRAIN)
    forks = "import multiprocessing as mp, runpy\ndef work():\n    runpy.run_path('train.py')\n"
    body = (
        f"import subprocess, sys\n{forks}if __name__ == '__main__':\n    subprocess.run([sys.executable, 'train.py'])\n"
    )
    body += "    import torch\n    p = mp.get_context('fork').Process(target=work)\n    p.start()\n    p.join()\n"
    (tmp_path / "parent.py").write_text(body)
    seen = watched("--only", "missing-zero-grad", "parent.py", cwd=tmp_path)
    lines = seen.stdout.splitlines()
    assert len(lines) == 4
    assert lines[1] == lines[3], "the same numbers in both"
    assert seen.stderr.count("train.py:11: error missing-zero-grad") == 1
    assert "in 80 steps" in seen.stderr


@pytest.mark.long
def test_two_ranks_of_torchrun(tmp_path):
    body = TRAIN.replace("model = nn.Linear(4, 2)", "torch.distributed.init_process_group('gloo')\n"
                         "model = nn.parallel.DistributedDataParallel(nn.Linear(4, 2))")  # fmt: skip
    (tmp_path / "train.py").write_text(body + "torch.distributed.destroy_process_group()\n")
    words = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint"]
    plain = run(*words, "localhost:0", "train.py", cwd=tmp_path)
    seen = watched("--only", "missing-zero-grad", *words, "localhost:0", "train.py", cwd=tmp_path)
    assert sorted(seen.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    assert seen.stderr.count("train.py:12: error missing-zero-grad") == 1


def test_the_pytest_plugin(tmp_path):
    body = TRAIN.replace("print(sys.argv[1:], __name__, __file__, sys.path[0])", "").replace("\n", "\n    ")
    (tmp_path / "test_it.py").write_text(f"import torch\ndef test_training():\n    {body}\n")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]
    mistaken = run(*words, "--lore-watch", "test_it.py", cwd=tmp_path)
    assert "write --lore-watch=error, or --lore-watch after the paths" in mistaken.stderr
    failed = run(*words, "--lore-watch=error", cwd=tmp_path)
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert failed.stdout.count("test_it.py:13: error missing-zero-grad") >= 2, "in the test and in the summary"


TWO = """
import torch
from torch import nn

one, other = nn.Linear(2, 1), nn.Linear(2, 1)
first = torch.optim.SGD(one.parameters(), lr=0.1)
second = torch.optim.SGD(other.parameters(), lr=0.001)
for _ in range(30):
    for model, optimizer in ((one, first), (other, second)):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.randn(4, 2)), torch.randn(4, 1)).backward()
        optimizer.step()
"""


def test_each_optimizer_has_a_line_of_its_own_on_the_timeline(tmp_path):
    (tmp_path / "two.py").write_text(TWO)
    watched("--json", "out.json", "--html", "out.html", "two.py", cwd=tmp_path)
    history = json.loads((tmp_path / "out.json").read_text())["history"]
    assert {(point["optimizer"], point["rate"]) for point in history} == {
        ("SGD, two.py:6", 0.1),
        ("SGD, two.py:7", 0.001),
    }
    page = (tmp_path / "out.html").read_text()
    rates = page.split("<h2>Learning rate</h2>")[1].split("</svg>")[0]
    assert rates.count("<polyline") == 2
    assert rates.index("two.py:6") < rates.index("two.py:7")


def test_a_long_timeline_keeps_every_second_point_of_each_optimizer():
    history = [Point(step, 0.0, optimizer="ab"[step % 2]) for step in range(10)]
    assert [point.step for point in every_second(history)] == [0, 1, 4, 5, 8, 9]
