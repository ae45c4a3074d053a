"""Codes of rules, and the torch that the code is written for."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from torchlore.catalogue import notes
from torchlore.check import codes, config
from torchlore.cli import main
from torchlore.cli.check import all_rules

BAD = "import torch\n\nx = torch.zeros(3)\nx.float()\n"
CODE = codes.code("discarded-move")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHLORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def lore(capsys, *words):
    status = main(["check", "--format", "concise", *words])
    return status, capsys.readouterr().out


def test_a_code_is_made_from_the_slug_and_taken_once():
    taken = Counter(codes.code(one.slug) for one in notes())
    twice = [one.slug for one in notes() if taken[codes.code(one.slug)] > 1]
    assert not twice, f"two slugs have one code: call one of {twice} something else"
    assert all(codes.CODE.fullmatch(code) for code in taken)


def test_codes_never_change():
    assert (codes.code("discarded-move"), codes.code("missing-zero-grad")) == ("TLR805", "TLS631")


def test_a_code_chooses_and_silences_like_a_slug(capsys):
    Path("a.py").write_text(BAD)
    assert f"discarded-move [{CODE}]" in lore(capsys, "a.py")[1]
    assert lore(capsys, "--select", CODE.lower(), "a.py")[0] == 1
    assert lore(capsys, "--ignore", CODE, "a.py")[0] == 0
    Path("pyproject.toml").write_text(f'[tool.torchlore.per-file-ignores]\n"a.py" = ["{CODE}"]\n')
    assert lore(capsys, "a.py")[0] == 0
    Path("pyproject.toml").write_text(f'[tool.torchlore.severity]\n{CODE} = "hint"\n')
    assert lore(capsys, "a.py")[0] == 0


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        (f"# noqa: {CODE}", None),
        (f"# noqa:{CODE}", None),
        (f"# NOQA: e501, {CODE.lower()}  and a reason", None),
        (f"# a demonstration  # noqa: {CODE}", None),
        (f"# noqa: E501  # lore: ignore[{'discarded-move'}] shown", None),
        ("# noqa", "discarded-move"),
        ("# noqa: E501", "discarded-move"),
        ("# noqa: TLZ999", "no rule is called `TLZ999`"),
    ],
)
def test_noqa_counts_where_it_names_our_code(capsys, comment, words):
    Path("a.py").write_text(BAD.replace("x.float()", f"x.float()  {comment}"))
    status, out = lore(capsys, "a.py")
    assert status == (words is not None)
    assert (words or "") in out


def test_a_noqa_that_silences_nothing_is_told(capsys):
    Path("a.py").write_text(BAD.replace("x.float()", f"x = x.float()  # noqa: E501, {CODE}"))
    assert f"nothing to silence here: remove `noqa: {CODE}`" in lore(capsys, "a.py")[1]


def test_formats_carry_the_code(capsys):
    Path("a.py").write_text(BAD)
    main(["check", "--format", "json", "a.py"])
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["code"], found["explain"]) == (CODE, "lore explain discarded-move")
    main(["check", "--format", "sarif", "a.py"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["tool"]["driver"]["rules"][0]["name"] == CODE


def test_explain_takes_a_code(capsys):
    assert main(["explain", "--raw", CODE]) == 0
    by_code = capsys.readouterr().out
    main(["explain", "--raw", "discarded-move"])
    assert capsys.readouterr().out == by_code


def test_flake8_runs_the_rules(tmp_path):
    Path("a.py").write_text(BAD)
    Path("b.py").write_text(BAD.replace("x.float()", f"x.float()  # noqa: {CODE}"))
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "TL", "a.py", "b.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"a.py:4:1: {CODE} ")


VERBOSE = """import torch
optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3, verbose=True)
scaler = torch.cuda.amp.GradScaler()
attention = torch.backends.cuda.sdp_kernel
"""


@pytest.mark.parametrize(
    ("target", "slugs"),
    [
        ("", {"scheduler-verbose", "deprecated-amp", "renamed-torch-function"}),
        ("2.15", {"scheduler-verbose", "deprecated-amp", "renamed-torch-function"}),
        ("2.6", {"deprecated-amp", "renamed-torch-function"}),
        ("2.3", {"renamed-torch-function"}),
        ("2.2.1", set()),
    ],
)
def test_what_is_not_yet_gone_in_the_target_is_not_told(capsys, target, slugs):
    Path("pyproject.toml").write_text(f'[tool.torchlore]\ntorch = "{target}"\n' if target else "")
    Path("a.py").write_text(VERBOSE)
    asked = "scheduler-verbose,deprecated-amp,renamed-torch-function"
    assert {line.split()[2] for line in lore(capsys, "--select", asked, "a.py")[1].splitlines()} == slugs


def test_torch_load_was_unsafe_before_2_6(capsys):
    Path("a.py").write_text("import torch\n\nstate = torch.load('a.pt', map_location='cpu')\n")
    assert lore(capsys, "a.py")[0] == 0
    Path("pyproject.toml").write_text('[tool.torchlore]\ntorch = "2.5"\n')
    assert "before torch 2.6 this runs whatever code the file holds" in lore(capsys, "a.py")[1]


@pytest.mark.parametrize("value", ['">=2.4"', "2.4", '""'])
def test_a_target_that_is_no_version_is_refused(capsys, value):
    Path("pyproject.toml").write_text(f"[tool.torchlore]\ntorch = {value}\n")
    Path("a.py").write_text(BAD)
    assert main(["check", "a.py"]) == 2
    assert "the version the code is written for" in capsys.readouterr().err


def test_every_rule_has_a_code_and_the_settings_know_it():
    rules = all_rules()
    assert codes.slug_of(CODE, rules) == "discarded-move"
    assert config.Config().torch == ()
