"""What a notebook cell shows is not thrown away, and a shell line may go on in the next line."""

import json
from pathlib import Path

import pytest

from torchlore.check import documents
from torchlore.cli import main


def _book(path: Path, *cells: str) -> Path:
    made = [{"cell_type": "code", "source": one, "metadata": {}, "outputs": []} for one in cells]
    path.write_text(json.dumps({"cells": made, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    return path


def test_the_last_expression_of_a_cell_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = _book(tmp_path / "a.ipynb", "import torch\nx = torch.zeros(3)", "x.abs()\n# shown", "x.exp()\nx.cos()")
    status = main(["check", "--no-cache", "--format", "concise", str(book)])
    said = capsys.readouterr().out
    assert status == 1
    assert said.count("discarded-tensor-op") == 1
    assert "`x.exp()`" in said


def test_a_lesson_shows_the_move_and_then_assigns_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = ("import torch\nx = torch.zeros(3)\nx.to('cuda')", "x = x.to('cuda')\nprint(x)")
    assert main(["check", "--no-cache", "--select", "discarded-move", str(_book(tmp_path / "a.ipynb", *cells))]) == 0
    capsys.readouterr()
    assert main(["check", "--no-cache", "--select", "discarded-move", str(_book(tmp_path / "b.ipynb", cells[0]))]) == 1


def test_inside_a_function_the_last_line_shows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = _book(tmp_path / "a.ipynb", "import torch\ndef f(x: torch.Tensor):\n    x.abs()")
    assert main(["check", "--no-cache", "--format", "concise", str(book)]) == 1
    assert "discarded-tensor-op" in capsys.readouterr().out


def test_a_notebook_without_code_shows_nothing(tmp_path: Path) -> None:
    book = _book(tmp_path / "torch.ipynb")
    assert documents.shown_lines(documents.notebook(book.read_text())) == frozenset()
    assert main(["check", "--no-cache", str(book)]) == 0


def test_a_cell_may_be_indented_as_a_whole() -> None:
    assert documents.without_magics(["", "    def f():", "        return 1"]) == ["", "def f():", "    return 1"]


def test_shell_lines_go_on_behind_a_backslash() -> None:
    lines = ["!python run.py \\", "    --epochs 3 \\", "    --lr 1", "x = 1", "pip install torch", "pip = 3"]
    assert documents.without_magics(lines) == ["pass", "", "", "x = 1", "pass", "pip = 3"]


def test_some_shell_commands_need_no_mark() -> None:
    lines = ["ls data/train", "cd ..", "rm -rf runs", "mkdir -p {folder}"]
    assert documents.without_magics(lines) == ["pass"] * 4
    assert documents.without_magics(["timeit read(path)", "time = 3", "time - 1"]) == ["pass", "time = 3", "time - 1"]
    python = ["ls = [1]", "cat in ls", "rm -1", "!pwd"]
    assert documents.without_magics(python)[0] == python[0]


def test_a_percent_may_be_an_operator() -> None:
    lines = ["print('%d' \\", "      % (1,))", "print(7", "      % 2)"]
    assert documents.without_magics(lines) == lines


def test_a_percent_without_a_space_goes_on_with_the_line_before() -> None:
    lines = ["print('%d of %d'", "      %(1, 2))", "print(7", "      %epochs)"]
    assert documents.without_magics(lines) == lines
    mixed = ["%matplotlib inline", "print('%d of %d'", "      %(1, 2))"]
    assert documents.without_magics(mixed) == ["pass", *mixed[1:]]


def test_a_string_over_two_lines_ends_before_a_shell_line() -> None:
    lines = ['url = """host/\\', 'file.tar.gz"""', "!wget {url}"]
    assert documents.without_magics(lines) == [*lines[:2], "pass"]


def test_a_cell_may_show_what_a_program_should_not_compute(tmp_path: Path) -> None:
    setup = "import torch\nx = torch.tensor([[0.0, 104.0]])"
    shows = _book(tmp_path / "a.ipynb", setup, "torch.log(torch.softmax(x, dim=1))")
    uses = _book(tmp_path / "b.ipynb", setup, "y = torch.log(torch.softmax(x, dim=1))")
    assert main(["check", "--no-cache", "--hints", str(shows)]) == 0
    assert main(["check", "--no-cache", "--hints", str(uses)]) == 1


def test_a_line_that_is_named_is_one_of_a_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    load = "try:\n    model.load_state_dict(torch.load('a.pt'))\nexcept Exception:\n    pass"
    setup = (
        "import torch\nfrom torch import nn\nmodel = nn.Linear(2, 2)\nopt = torch.optim.SGD(model.parameters(), 0.1)"
    )
    other = (
        "model = torch.load('b.pt')\nfor x in data:\n    opt.zero_grad()\n    model(x).sum().backward()\n    opt.step()"
    )
    book = _book(tmp_path / "a.ipynb", "import torch", setup, load, other)
    main(["check", "--no-cache", "--format", "concise", str(book)])
    said = capsys.readouterr().out
    assert "line 3 swallows every reason" in said
    assert "on line 1 of cell 4" in said
