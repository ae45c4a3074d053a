"""The ten defects that the survey of TorchFix found, one test each: we have none of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from torchlore.cli import main

OLD = '[tool.torchlore]\ntorch = "2.5"\n'  # for which torch.load wants weights_only


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHLORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def lore(capsys, *words):
    status = main(["check", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def slugs(capsys, text, *words):
    Path("a.py").write_text(text)
    _, out, _ = lore(capsys, "--hints", "--format", "json", *words, "a.py")
    return [(one["line"], one["slug"]) for one in json.loads(out)]


def test_1_a_fix_breaks_no_call_with_kwargs(capsys):
    Path("pyproject.toml").write_text(OLD)
    text = 'import torch\n\nkw = {"weights_only": True}\nx = torch.load("f", map_location="cpu", **kw)\n'
    Path("a.py").write_text(text)
    lore(capsys, "--fix", "--unsafe-fixes", "--hints", "a.py")
    assert Path("a.py").read_text() == text


def test_2_a_silenced_line_is_neither_told_nor_rewritten(capsys):
    for comment in ("# noqa: TLR805", "# lore: ignore[discarded-move] shown on purpose"):
        text = f"import torch\n\nx = torch.zeros(3)\nx.float()  {comment}\n"
        assert slugs(capsys, text) == []
        lore(capsys, "--fix", "--unsafe-fixes", "a.py")
        assert Path("a.py").read_text() == text


def test_3_findings_give_status_1(capsys):
    Path("a.py").write_text("import torch\n\nx = torch.zeros(3)\nx.float()\n")
    assert lore(capsys, "a.py")[0] == 1
    Path("a.py").write_text("import torch\n\nx = torch.zeros(3)\n")
    assert lore(capsys, "a.py")[0] == 0


def test_4_what_kwargs_may_hold_is_not_missing(capsys):
    head = "import torch\nfrom torchvision.datasets import ImageFolder\n\ndata = ImageFolder('photos')\nkw = {'num_workers': 8}\n"
    slug = "dataloader-no-workers"
    assert (6, slug) in slugs(capsys, f"{head}loader = torch.utils.data.DataLoader(data)\n")
    assert (6, slug) not in slugs(capsys, f"{head}loader = torch.utils.data.DataLoader(data, **kw)\n")


def test_5_a_fallback_for_an_old_release_is_left_alone(capsys):
    text = "try:\n    from torch.func import vmap\nexcept ImportError:\n    from functorch import vmap\n\nf = vmap(abs)\nimport torch\n"
    assert slugs(capsys, text) == []
    lore(capsys, "--fix", "--unsafe-fixes", "--hints", "a.py")
    assert Path("a.py").read_text() == text


def test_6_an_alias_of_the_module_is_seen_through(capsys):
    Path("pyproject.toml").write_text(OLD)
    found = slugs(
        capsys, 'import torch\n\nt = torch\nx = t.load("f", map_location="cpu")\n', "--select", "unsafe-torch-load"
    )
    assert found == [(4, "unsafe-torch-load")]


def test_7_a_syntax_error_is_a_finding_with_its_line(capsys):
    Path("bad.py").write_text("import torch\ndef f(:\n")
    status, out, _ = lore(capsys, "--format", "concise", "bad.py")
    assert status == 1
    assert out.startswith("bad.py:2:7: error syntax-error")


def test_8_notebooks_are_read(capsys):
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1,
              "source": ["import torch\n", "x = torch.zeros(3)\n", "x.cuda()\n", "print(x)"]}]  # fmt: skip
    Path("nb.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    status, out, _ = lore(capsys, "--format", "concise", "nb.ipynb")
    assert status == 1
    assert out.startswith("nb.ipynb:cell 1:3:1: warning discarded-move")


def test_9_output_is_sorted_and_its_columns_agree(capsys):
    Path("b.py").write_text("import torch\n\nx = torch.zeros(3)\nif x is not None:\n    x.float()\nx.half()\n")
    Path("a.py").write_text(Path("b.py").read_text())
    _, out, _ = lore(capsys, "--format", "json", ".")
    places = [(one["path"], one["line"], one["column"]) for one in json.loads(out)]
    assert places == sorted(places) == [("a.py", 5, 5), ("a.py", 6, 1), ("b.py", 5, 5), ("b.py", 6, 1)]
    _, concise, _ = lore(capsys, "--format", "concise", ".")
    assert [tuple(line.split(":")[:3]) for line in concise.splitlines()] == [(p, str(n), str(c)) for p, n, c in places]
    _, github, _ = lore(capsys, "--format", "github", ".")
    assert "file=a.py,line=5,col=5" in github


def test_10_every_run_says_the_same():
    text = ("import torch\ntry:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    from torch.amp import autocast\n"
            "from functorch import vmap, jacrev\nx = torch.zeros(3)\nx.float()\nwith autocast():\n    y = torch.ger(x, x)\n")  # fmt: skip
    Path("a.py").write_text(text)
    command = [sys.executable, "-m", "torchlore", "check", "--hints", "--no-cache", "--format", "json", "a.py"]
    said = {subprocess.run(command, env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, check=False).stdout
            for seed in ("1", "2", "3")}  # fmt: skip
    assert len(said) == 1
    assert len(json.loads(said.pop())) >= 3
