"""`lore check` from the outside: choices, suppressions, notebooks, formats, history, cache, and bad input."""

import ast
import gc
import io
import json
import os
import subprocess
import sys
import time
import weakref
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from torchlore.check import codes, config, documents, runner
from torchlore.check.cache import Cache
from torchlore.check.engine import Rule
from torchlore.check.project import Project
from torchlore.cli import main
from torchlore.cli.check import all_rules
from torchlore.finding import Finding, Severity

BAD = "import torch\n\nx = torch.zeros(3)\nx.float()\n"
GOOD = "import torch\n\nx = torch.zeros(3)\nx = x.float()\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHLORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


def lore(capsys, *words):
    status = main(["check", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_status_and_concise_lines(capsys):
    write("bad.py", BAD)
    write("good.py", GOOD)
    assert lore(capsys, "--format", "concise", "good.py")[0] == 0
    status, out, _ = lore(capsys, "--format", "concise", ".")
    assert status == 1
    assert out.startswith("bad.py:4:1: warning discarded-move ")


def test_the_default_shows_line_caret_sentence_and_remedy(capsys):
    write("bad.py", BAD)
    _, out, _ = lore(capsys, "bad.py")
    assert "  4 | x.float()\n    | ^^^^^^^^^\n" in out
    assert "--fix writes it" in out
    assert out.rstrip().endswith("1 warning in 1 of 1 files; --fix repairs 1")


def test_fix_and_diff(capsys):
    write("bad.py", BAD)
    status, out, _ = lore(capsys, "--diff", "bad.py")
    assert status == 1
    assert "+x = x.float()" in out
    assert Path("bad.py").read_text() == BAD
    status, _, err = lore(capsys, "--fix", "bad.py")
    assert status == 0
    assert "1 fixed in 1 file" in err
    assert Path("bad.py").read_text() == GOOD
    assert lore(capsys, "--diff", "bad.py")[:2] == (0, "")


def test_a_fix_that_cannot_be_written_leaves_the_old_file():
    """As on a full disk: the new file does not fit into a kilobyte."""
    text = BAD + "# a line\n" * 500
    write("bad.py", text)
    command = f"ulimit -f 1; exec {sys.executable} -m torchlore check --no-cache --fix bad.py"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith("bad.py: File too large; it was left as it was\n")
    assert [Path("bad.py").read_text(), [str(one) for one in Path().iterdir() if "bad" in str(one)]] == [
        text,
        ["bad.py"],
    ]


def test_a_diff_tells_what_it_could_not_read(capsys):
    write("bad.py", BAD)
    Path("binary.py").write_bytes(b"import torch\n\0\xff\0")
    status, out, err = lore(capsys, "--diff", ".")
    assert status == 2
    assert "+x = x.float()" in out
    assert err == "lore check: binary.py: is binary, not Python source\n"


def test_a_baseline_that_cannot_be_written_is_named_and_the_old_one_stays(capsys):
    write("bad.py", BAD)
    assert lore(capsys, "--baseline", "known.json", "bad.py")[0] == 0
    known = Path("known.json").read_text()
    write("bad.py", BAD + "".join(f"x.float()  # number {i}\n" for i in range(50)))
    words = "--no-cache --baseline known.json --update-baseline bad.py"
    command = f"ulimit -f 1; exec {sys.executable} -m torchlore check {words}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith("known.json: File too large; it was left as it was\n")
    assert Path("known.json").read_text() == known


def test_long_chains_are_read_and_endless_ones_are_no_error(capsys):
    write("long.py", f"import torch\ny = torch.zeros(3){'.abs()' * 1000}\n{BAD}")
    assert lore(capsys, "--format", "concise", "long.py")[1].startswith("long.py:6:1: warning discarded-move ")
    write("endless.py", f"import torch\ny = torch.zeros(3){'.abs()' * 9000}\n")
    status, out, _ = lore(capsys, "--format", "concise", "endless.py")
    assert [status, out.split(":", 3)[3].strip().split("] ")[0]] == [1, "warning syntax-error [TLX242"]


def test_a_fix_keeps_links_and_modes(capsys):
    write("real/bad.py", BAD)
    Path("real/bad.py").chmod(0o755)
    Path("link.py").symlink_to("real/bad.py")
    lore(capsys, "--fix", "link.py")
    assert Path("link.py").is_symlink()
    assert [Path("real/bad.py").read_text(), Path("real/bad.py").stat().st_mode & 0o777] == [GOOD, 0o755]


@pytest.mark.parametrize(
    ("comment", "status", "words"),
    [
        ("x.float()  # lore: ignore[discarded-move] shown to students", 0, ""),
        ("x.float()  # lore: ignore", 0, ""),
        ("# lore: ignore[discarded-move] see below\nx.float()", 0, ""),
        ("x.float()  # lore: ignore[state-dict-alias]", 1, "nothing to silence"),
        ("x.float()  # lore: ignore[no-such-rule]", 1, "no rule is called"),
        ("x.float()  # lore: ingore[discarded-move]", 1, "lore does not know `ingore`"),
        ("x.float()  # lore: disable", 1, "lore does not know `disable`"),
        ("x.float(); s = '# lore: ignore[discarded-move]'", 1, "discarded-move"),
        ("y = 1  # lore: ignore[discarded-move]", 1, "unused-suppression"),
        ("# lore: ignore-file[discarded-move] a lesson\n\nx.float()", 0, ""),
    ],
)
def test_suppressions(capsys, comment, status, words):
    write("a.py", BAD.replace("x.float()", comment))
    found, out, _ = lore(capsys, "--format", "concise", "a.py")
    assert found == status
    assert words in out


def test_a_comment_about_what_only_a_run_shows_is_left_alone(capsys):
    write(
        "a.py", "import torch\nx = 1  # lore: ignore[inputs-not-normalised]\ny = 2  # lore: ignore[not-in-this-torch]\n"
    )
    assert lore(capsys, "a.py")[0] == 0
    assert lore(capsys, "--ignore", "inputs-not-normalised,not-in-this-torch", "a.py")[0] == 0


def test_comments_take_codes_and_complaints_about_them_can_be_left_out(capsys):
    write("a.py", BAD.replace("x.float()", f"x.float()  # lore: ignore[{codes.code('discarded-move')}]"))
    assert lore(capsys, "a.py")[0] == 0
    write("a.py", "import torch\n\nx = 1  # lore: ignore\n")
    assert "unused-suppression" in lore(capsys, "a.py")[1]
    assert lore(capsys, "--ignore", "unused-suppression", "a.py")[0] == 0


@pytest.mark.parametrize("slug", ["unused-suppression", "syntax-error", codes.code("syntax-error")])
def test_what_has_no_note_is_explained(capsys, slug):
    assert main(["explain", "--raw", slug]) == 0
    assert len(capsys.readouterr().out.split("\n\n")) > 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--update-baseline",), "--baseline"),
        (("--fix", "--since", "HEAD"), "--since"),
        (("--diff", "--baseline", "known.json"), "--baseline"),
        (("--select", "discarded-mov"), "did you mean discarded-move?"),
        (("--format", "xml"), "invalid choice: 'xml'"),
        (("--diff", "nowhere.py"), "nowhere.py: no such file"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(capsys, words, told):
    write("a.py", BAD)
    assert lore(capsys, *words)[0] == 2
    status, out, err = lore(capsys, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err
    assert Path("a.py").read_text() == BAD


@pytest.mark.parametrize(
    "setting", ['severity = {discarded-mov = "hint"}', 'per-file-ignores = {"*" = ["no-rule"]}', 'markdown = "no"']
)
def test_a_setting_that_would_do_nothing_is_refused(capsys, setting):
    write("a.py", BAD)
    write("pyproject.toml", f"[tool.torchlore]\n{setting}\n")
    assert lore(capsys, "a.py")[0] == 2


def test_the_last_line_counts_what_was_read(capsys):
    write("a.py", "import torch\nx = '\0'\n")
    assert lore(capsys, "a.py")[:2] == (2, "")
    write("b.py", GOOD)
    assert lore(capsys, "a.py", "b.py")[:2] == (2, "1 file checked: nothing found\n")
    assert lore(capsys, "--baseline", "known.json", "b.py")[1] == "1 file checked: nothing new found\n"
    Path("empty").mkdir()
    assert lore(capsys, "empty")[:2] == (0, "nothing was checked: no Python file and no notebook there\n")


def test_a_hook_leaves_out_what_is_excluded(capsys):
    write("pyproject.toml", '[tool.torchlore]\nexclude = ["old"]\n')
    write("old/a.py", BAD)
    assert lore(capsys, "old/a.py")[0] == 1
    assert lore(capsys, "--force-exclude", "old/a.py")[0] == 0


def test_stdin_is_shown_as_a_diff(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    status, out, _ = lore(capsys, "--diff", "-", "--stdin-filename", "train.py")
    assert status == 1
    assert out.startswith("--- train.py\n+++ train.py\n")
    assert out.endswith("-x.float()\n+x = x.float()\n")


def test_a_suppressed_finding_is_not_fixed(capsys):
    text = BAD.replace("x.float()", "x.float()  # lore: ignore[discarded-move]")
    write("a.py", text)
    lore(capsys, "--fix", "a.py")
    assert Path("a.py").read_text() == text


def test_settings_of_the_project(capsys):
    write("pyproject.toml", '[tool.torchlore]\nignore = ["discarded-move"]\n')
    write("a.py", BAD)
    assert lore(capsys, "a.py")[0] == 0
    write("pyproject.toml", '[tool.torchlore.per-file-ignores]\n"tests/**" = ["discarded-move"]\n')
    write("tests/a.py", BAD)
    _, out, _ = lore(capsys, "--format", "concise", ".")
    assert [line.split(":")[0] for line in out.splitlines()] == ["a.py"]
    write(
        "pyproject.toml", '[tool.torchlore]\nexclude = ["tests"]\n[tool.torchlore.severity]\ndiscarded-move = "hint"\n'
    )
    assert lore(capsys, ".")[0] == 0
    status, out, _ = lore(capsys, "--hints", "--format", "concise", ".")
    assert status == 1
    assert out.startswith("a.py:4:1: hint")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.torchlore]\nselct = []\n", "did you mean `select`?"),
        ("[tool.torchlore]\nselect = 3\n", "takes a list of strings, got 3"),
        ('[tool.torchlore.severity]\nx = "loud"\n', "error, warning or hint"),
        ("[tool.torchlore\n", "pyproject.toml"),
    ],
)
def test_a_broken_config_is_one_clear_line(capsys, text, words):
    write("pyproject.toml", text)
    write("a.py", BAD)
    status, _, err = lore(capsys, "a.py")
    assert status == 2
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_unknown_rules_are_refused(capsys):
    write("a.py", BAD)
    assert lore(capsys, "--select", "nonsense", "a.py")[0] == 2


def notebook_text(*sources):
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}]
    for source in sources:
        lines = source.splitlines(keepends=True)
        cells.append(
            {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [{"x": "é"}], "source": lines}
        )
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def test_a_notebook_is_one_program_and_fixes_touch_only_their_cell(capsys):
    text = notebook_text(
        "%matplotlib inline\nimport torch\nfiles = !ls", "%%bash\nrm -rf nothing", "x = torch.zeros(3)\nx?\nx.cuda()"
    )
    write("nb.ipynb", text)
    status, out, _ = lore(capsys, "--format", "concise", "nb.ipynb")
    assert status == 1
    assert out.startswith("nb.ipynb:cell 4:3:1: warning discarded-move")
    lore(capsys, "--fix", "nb.ipynb")
    after = Path("nb.ipynb").read_text()
    assert after == text.replace('"x.cuda()"', '"x = x.cuda()"')
    assert lore(capsys, "nb.ipynb")[0] == 0


def test_a_broken_cell_does_not_hide_the_others(capsys):
    write("nb.ipynb", notebook_text("import torch\nx = torch.zeros(3)", "def broken(:", "x.cuda()"))
    _, out, _ = lore(capsys, "--format", "concise", "nb.ipynb")
    assert "cell 3:1:1: error syntax-error" in out
    assert "cell 4:1:1: warning discarded-move" in out


def test_a_broken_notebook_is_one_clear_line(capsys):
    write("nb.ipynb", '{"cells": [ torch')
    write("b.ipynb", '{"torch": 1}')
    write("a.py", BAD)
    status, out, err = lore(capsys, "--format", "concise", ".")
    assert status == 2
    assert "a.py:4:1" in out
    assert len(err.strip().splitlines()) == 2


def test_markdown_blocks(capsys):
    write("page.md", f"# Title\n\n```python\n{BAD}```\n\n```python\n>>> torch\n```\n")
    assert lore(capsys, ".")[0] == 0
    _, out, _ = lore(capsys, "--markdown", "--format", "concise", ".")
    assert out.startswith("page.md:7:1: warning discarded-move")


def test_a_name_of_one_block_is_known_in_the_next(capsys):
    first = "import torch\nfrom torch.nn.functional import cross_entropy as loss_of\n"
    then = "def loss(logits, labels):\n    return loss_of(torch.softmax(logits, dim=1), labels)\n"
    write("page.md", f"```python\n{first}```\n\n```python\n{then}```\n")
    _, out, _ = lore(capsys, "--markdown", "--format", "concise", ".")
    assert out.startswith("page.md:8:")
    assert "softmax" in out


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 reads it")
@pytest.mark.parametrize("line", ["class Stack[T]: ...", "def first[T](x: T): ...", "type Pair = tuple[int, int]"])
def test_what_a_newer_python_may_read_is_no_error(capsys, line):
    write("a.py", f"import torch\n{line}\n")
    _, out, _ = lore(capsys, "--format", "concise", ".")
    assert out.startswith("a.py:2:")
    assert "warning syntax-error" in out
    assert "run lore under that" in out


def test_standard_input(capsys, monkeypatch):
    class In:
        class buffer:
            @staticmethod
            def read():
                return BAD.encode()

    monkeypatch.setattr("sys.stdin", In)
    status, out, _ = lore(capsys, "--format", "concise", "-", "--stdin-filename", "train.py")
    assert status == 1
    assert out.startswith("train.py:4:1")


def test_formats_are_well_formed(capsys):
    write("a.py", BAD)
    found = json.loads(lore(capsys, "--format", "json", "a.py")[1])
    assert found[0]["fix"]["edits"][0]["text"] == "x = x.float()"
    sarif = json.loads(lore(capsys, "--format", "sarif", "a.py")[1])
    result = sarif["runs"][0]["results"][0]
    assert result["ruleId"] == "discarded-move"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4
    assert result["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"]["startLine"] == 4
    assert lore(capsys, "--format", "github", "a.py")[1].startswith("::warning file=a.py,line=4,col=1")
    quality = json.loads(lore(capsys, "--format", "gitlab", "a.py")[1])
    assert quality[0]["location"]["lines"]["begin"] == 4
    suite = ET.fromstring(lore(capsys, "--format", "junit", "a.py")[1])  # our own output
    assert suite.attrib["failures"] == "1"
    assert "1  warning  discarded-move" in lore(capsys, "--statistics", "a.py")[1]
    assert "A Module moves in place" in lore(capsys, "--explain", "a.py")[1]


def test_a_baseline_hides_what_is_known(capsys):
    write("a.py", BAD)
    assert lore(capsys, "--baseline", "known.json", ".")[0] == 0
    assert lore(capsys, "--baseline", "known.json", ".")[0] == 0
    write("a.py", "# moved down\n" + BAD + "x.half()\n")
    status, out, _ = lore(capsys, "--baseline", "known.json", "--format", "concise", ".")
    assert status == 1
    assert [line.split(":")[1] for line in out.splitlines()] == ["6"]
    write("known.json", "[]")
    assert lore(capsys, "--baseline", "known.json", ".")[0] == 2


def test_only_changed_lines(capsys, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b")
    write("a.py", BAD)
    for words in (["init", "-q"], ["add", "a.py"], ["commit", "-qm", "x"]):
        subprocess.run(["git", *words], check=True)
    assert lore(capsys, "--since", "HEAD", ".")[0] == 0
    write("a.py", BAD + "x.half()\n")
    write("new.py", BAD)
    _, out, _ = lore(capsys, "--since", "HEAD", "--format", "concise", ".")
    assert [line.split(" ")[0] for line in out.splitlines()] == ["a.py:5:1:", "new.py:4:1:"]
    assert lore(capsys, "--since", "nonsense", ".")[0] == 2


def test_changed_lines_are_those_of_the_repository_of_the_path(capsys, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b")
    names = ("a.py", "größe 2.py")
    for folder in ("one", "two"):
        for name in names:
            write(f"{folder}/{name}", BAD)
        settings = (["config", "diff.noprefix", "true"], ["config", "diff.mnemonicPrefix", "true"])
        for words in (["init", "-q"], *settings, ["add", "."], ["commit", "-qm", "x"]):
            subprocess.run(["git", "-C", folder, *words], check=True)
    for name in names:
        Path("two", name).write_bytes(BAD.encode() + b"x.half()  # \xe9\n")
        Path("two", name).write_bytes(b"# coding: latin-1\n" + Path("two", name).read_bytes())
    Path("link").symlink_to("two")
    monkeypatch.chdir("one")
    for folder in ("../two", "../link"):
        out = lore(capsys, "--since", "HEAD", "--format", "concise", folder)[1]
        assert [line.partition(": ")[0] for line in out.splitlines()] == [f"{folder}/{name}:6:1" for name in names]


def test_bad_input_is_said_and_the_rest_is_checked(capsys):
    write("good.py", BAD)
    Path("binary.py").write_bytes(b"torch\0\1\2")
    Path("latin.py").write_bytes("# torch é\n".encode("latin-1"))
    Path("declared.py").write_bytes("# -*- coding: latin-1 -*-\nimport torch  # é\n".encode("latin-1"))
    write("syntax.py", "import torch\ndef f(:\n")
    write("deep.py", "import torch\n" + "(" * 300 + ")" * 300)
    Path("loop").mkdir()
    Path("loop/back").symlink_to("..")
    Path("gone.py").symlink_to("nowhere.py")
    status, out, err = lore(capsys, "--format", "concise", ".", "missing.py")
    assert status == 2
    assert "good.py:4:1: warning discarded-move" in out
    assert "syntax.py:2:7: error syntax-error" in out
    assert "deep.py" in out
    for name in ("binary.py", "latin.py", "gone.py", "missing.py"):
        assert sum(line.startswith(f"lore check: {name}") for line in err.splitlines()) == 1
    assert "declared.py" not in err


def test_a_generated_file_of_5_mb_is_one_clear_line_at_once(capsys):
    write("generated.py", "import torch\n" + "x = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n" * 145_000)
    write("bad.py", BAD)
    begun = time.process_time()
    status, out, err = lore(capsys, "--format", "concise", ".")
    assert time.process_time() - begun < 2
    assert status == 2
    assert err.splitlines() == ["lore check: generated.py: is larger than 3 MB and was not checked: exclude it"]
    assert out.startswith("bad.py:4:1")


def test_a_closed_folder_is_one_clear_line(capsys, tmp_path):
    write("open/bad.py", BAD)
    write("closed/bad.py", BAD)
    lore(capsys, ".")  # imports what it needs, for nobody may not read all of Python
    tmp_path.chmod(0o755)
    Path("closed").chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)  # nobody
    try:
        status, out, err = lore(capsys, "--no-cache", "--format", "concise", ".")
    finally:
        if root:
            os.seteuid(0)
        Path("closed").chmod(0o755)
    assert status == 2
    assert err.splitlines() == ["lore check: ./closed: cannot be read: Permission denied"]
    assert out.startswith("open/bad.py:4:1")


def test_a_rule_that_raises_is_one_line_and_the_rest_goes_on(tmp_path):
    def broken(source):
        yield source.hit(source.tree.body[0], "first")
        raise KeyError("oops")

    def fine(source):
        yield source.hit(source.tree.body[0], "still here")

    path = write("a.py", BAD)
    rules = {"broken": Rule("broken", broken), "fine": Rule("fine", fine)}
    report = runner.check([path], rules, config.Config())
    assert [str(one) for one in report.failures] == ["a.py: internal error in rule broken: KeyError: 'oops'"]
    assert [one.message for one in report.findings] == ["first", "still here"]


def counted(calls):
    def find(source):
        calls.append(source.path)
        for call in source.methods("float"):
            yield source.hit(call, "m")

    return {"counted": Rule("counted", find, Severity.WARNING)}


def test_the_cache_skips_what_did_not_change():
    calls: list[str] = []
    files = [write("a.py", BAD), write("b.py", GOOD), write("c.py", "no word of it")]
    first = runner.check(files, counted(calls), config.Config(), cache=Cache("p", "k"))
    again = runner.check(files, counted(calls), config.Config(), cache=Cache("p", "k"))
    assert calls == ["a.py", "b.py"]
    assert first == again
    write("a.py", BAD + "\n")
    runner.check(files, counted(calls), config.Config(), cache=Cache("p", "k"))
    assert calls[2:] == ["a.py"]
    runner.check(files, counted(calls), config.Config(), cache=Cache("p", "other rules"))
    assert calls[3:] == ["a.py", "b.py"]
    Cache("p", "k").path.write_text("{broken")
    runner.check(files, counted(calls), config.Config(), cache=Cache("p", "k"))


def test_the_cache_knows_that_a_file_looked_into_another():
    def find(source):
        for call in source.calls("helper.make"):
            for value in source.values(call):
                yield source.hit(call, value.kind or "unknown")

    files = [write("helper.py", "import torch\ndef make():\n    return torch.zeros(1)\n"),
             write("main.py", "import torch\nfrom helper import make\nmake()\n")]  # fmt: skip
    rules = {"r": Rule("r", find)}
    assert [f.message for f in runner.check(files, rules, config.Config(), cache=Cache("p", "k")).findings] == [
        "tensor"
    ]
    write("helper.py", "import torch\ndef make():\n    return 3\n")
    assert [f.message for f in runner.check(files, rules, config.Config(), cache=Cache("p", "k")).findings] == [
        "number"
    ]


def test_workers_say_the_same_as_one_process():
    files = [write(f"f{n:02}.py", BAD + f"y{n} = 1\n" * n) for n in range(40)]
    rules = counted([])
    one = runner.check(files, rules, config.Config(), jobs=1)
    assert one == runner.check(files, rules, config.Config(), jobs=2)
    assert len(one.findings) == 40


def kinds(source):
    for call in source.all(ast.Call):
        yield source.hit(call, " ".join(value.kind or "unknown" for value in source.values(call)))


def test_what_is_known_does_not_depend_on_who_asked_first():
    last = write("f39.py", "import torch\ndef make():\n    return torch.zeros(1)\n")
    files = [
        write(f"f{n:02}.py", f"import torch\nimport f{n + 1}\ndef make():\n    return f{n + 1}.make()\n")
        for n in range(10, 39)
    ]
    rules = {"r": Rule("r", kinds)}
    one = runner.check([*files, last], rules, config.Config(), jobs=1)
    assert one == runner.check([*files, last], rules, config.Config(), jobs=2)
    assert {found.message for found in one.findings} == {"tensor"}
    assert one == runner.check([last, *reversed(files)], rules, config.Config(), jobs=1)


def test_the_cache_knows_what_a_file_was_asked_about_before_its_turn():
    files = [write("a.py", "import torch\nimport b\nb.make()\n"), write("b.py", "import torch\nimport c\ndef make():\n    return c.make()\n"),
             write("c.py", "import torch\ndef make():\n    return torch.zeros(1)\n")]  # fmt: skip
    rules = {"r": Rule("r", kinds)}
    before = runner.check(files, rules, config.Config(), cache=Cache("p", "k")).findings
    assert [found.message for found in before] == ["tensor", "tensor", "tensor"]
    write("c.py", "import torch\ndef make():\n    return 3\n")
    after = runner.check(files, rules, config.Config(), cache=Cache("p", "k")).findings
    assert [found.message for found in after] == ["number", "number"]


def test_long_files_end_in_time():
    text = "import torch\n" + "x = torch.zeros(3)\nx = x + 1\n" * 20_000
    work = runner.Work(counted([]), config.Config(), Project())
    assert runner.check_text("big.py", text, work) == []


def test_without_magics_keeps_the_lines():
    lines = ["%time x", "!ls", "a = %magic", "s = '''", "%not magic", "'''", "x?", "y % 2"]
    assert documents.without_magics(lines) == [
        "pass",
        "pass",
        "a = None",
        "s = '''",
        "%not magic",
        "'''",
        "pass",
        "y % 2",
    ]


def test_findings_of_one_place_are_said_once():
    def twice(source):
        for _ in range(2):
            yield source.hit(source.tree.body[0], "m")

    work = runner.Work({"t": Rule("t", twice)}, config.Config(), Project())
    said = runner.check_text("a.py", BAD, work)
    assert len(said) == 1
    assert isinstance(said[0], Finding)


def test_the_name_of_a_cache_is_the_same_in_every_process():
    code = "from torchlore.check.config import Config; print(Config(known=frozenset('abcdef')))"
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_a_file_that_is_let_go_is_freed_at_once():
    write("a.py", "import torch\n\n\ndef make():\n    return torch.nn.Linear(2, 2)\n")
    write("b.py", "import torch\nfrom a import make\n\nx = make()\nx.cuda()\n")
    project = Project()
    project.add(["a.py", "b.py"])
    work = runner.Work(all_rules(), config.Config(), project)
    project.begin("b.py")
    runner.check_text("b.py", Path("b.py").read_text(encoding="utf-8"), work)
    assert set(project.parsed) == {"a.py", "b.py"}
    kept = [weakref.ref(source) for source in project.parsed.values()]
    gc.disable()
    try:
        project.begin("c.py")
        project.trim(0)
        assert [one() for one in kept] == [None, None]
    finally:
        gc.enable()


def test_the_collector_rests_where_the_process_ends_with_the_check(tmp_path):
    script = (
        "import gc, sys; from torchlore.cli import main; sys.argv = ['lore', 'check', '.']; main();"
        "print(gc.isenabled(), gc.get_freeze_count() > 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False True\n")
    assert main(["check", str(tmp_path)]) == 0
    assert gc.isenabled()
