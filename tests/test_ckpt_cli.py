"""`lore ckpt` as a user meets it: exit status, one clear line for trouble, JSON for machines, no escape codes."""

import json
import re
import subprocess
import sys

import pytest
import torch
from ckpt_corpus import P4, name, system, text, torch_zip, zipped
from torch import nn

from torchlore.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8, 4))
    torch.save({"epoch": 3, "model": net.state_dict(), "acc": 0.5}, "good.pt")
    torch.save({f"module.{key}": value * 2 for key, value in net.state_dict().items()}, "other.pt")
    (tmp_path / "bad.pt").write_bytes(torch_zip(P4 + system(tmp_path / "canary") + b"."))
    (tmp_path / "odd.pkl").write_bytes(b"\x80\x02cmine\nNet\n)\x81}b.")
    (tmp_path / "cut.pt").write_bytes((tmp_path / "good.pt").read_bytes()[:-500])
    return tmp_path


def lore(capsys, *words) -> tuple[int, str, str]:
    status = main(["ckpt", *words])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert "\x1b" not in out + err
    return status, out, err


def test_show(files, capsys):
    status, out, err = lore(capsys, "show", "good.pt")
    assert (status, err) == (0, "")
    for piece in (
        "torch zip",
        "epoch 3",
        "acc 0.5",
        "(8, 3, 3, 3)",
        "276 parameters",
        "in 'model'",
        "nothing in it but tensors",
    ):
        assert piece in out, piece
    status, out, _ = lore(capsys, "show", "good.pt", "--json")
    told = json.loads(out)
    assert (told["parameters"], told["safety"], told["facts"]["epoch"]) == (276, "allowed", 3)
    assert [key["key"] for key in told["keys"]][:2] == ["model/0.weight", "model/0.bias"]
    status, out, _ = lore(capsys, "show", "bad.pt")
    assert "it would run code when it is loaded" in out
    assert not (files / "canary").exists()


def test_show_reports_errors_by_its_status(files, capsys):
    torch.save({"w": torch.full((3, 3), float("nan"))}, "nan.pt")
    status, out, _ = lore(capsys, "show", "nan.pt")
    assert status == 1
    assert "w holds NaN" in out
    assert lore(capsys, "show", "nan.pt", "--stats", "none")[0] == 0


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["good.pt"], 0), (["good.pt", "other.pt"], 0), (["bad.pt"], 1), (["good.pt", "bad.pt"], 1), (["odd.pkl"], 1), (["."], 1),
        (["odd.pkl", "--fail-on", "dangerous"], 0), (["odd.pkl", "--allow", "mine.*"], 0), (["bad.pt", "--allow", "os.*"], 0), (["cut.pt"], 2), (["none.pt"], 2),
    ],
)  # fmt: skip
def test_scan_has_a_status_for_ci(files, capsys, words, status):
    assert lore(capsys, "scan", *words)[0] == status


def test_scan_names_what_it_found(files, capsys):
    status, out, _ = lore(capsys, "scan", "bad.pt")
    assert status == 1
    assert re.search(r"dangerous +os\.system +archive/data\.pkl, byte \d+ \(REDUCE\) +called with \('touch ", out)
    _, out, _ = lore(capsys, "scan", "bad.pt", "odd.pkl", "--json")
    reports = json.loads(out)
    assert [report["verdict"] for report in reports] == ["dangerous", "unknown"]
    assert reports[0]["uses"][0]["what"] == "os.system"
    _, out, _ = lore(capsys, "scan", "good.pt", "--all")
    assert "torch._utils._rebuild_tensor_v2" in out
    assert not (files / "canary").exists()


def test_trouble_is_one_line(files, capsys):
    (files / "text.pt").write_text("hello")
    for words in (
        ["show", "none.pt"], ["show", "text.pt"], ["show", "cut.pt"], ["convert", "text.pt", "x.pt"], ["convert", "good.pt", "other.pt"],
        ["convert", "good.pt", "nofolder/x.pt"], ["diff", "good.pt", "none.pt"], ["average", "good.pt", "-o", "x.pt"], ["repair", "text.pt"],
        ["match", "good.pt", "nosuchmodel"], ["convert", "good.pt", "x.pt", "--group", "y"], ["show", "."],
    ):  # fmt: skip
        status, out, err = lore(capsys, *words)
        assert (status, out) == (2, ""), words
        assert re.fullmatch(r"lore ckpt: [^\n]+\n", err), err


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 9\n", "`git lfs pull` fetches the file"),
        (b"\n<!DOCTYPE html><html>404</html>", "a web page: the download did not give the file"),
        (b"hi", "of a format that is known here."),
    ],
)
def test_what_came_instead_of_a_checkpoint_is_named(files, capsys, body, says):
    (files / "a.pt").write_bytes(body)
    status, out, err = lore(capsys, "show", "a.pt")
    assert (status, out) == (2, "")
    assert says in err


def test_convert_diff_average_repair_match(files, capsys):
    assert lore(capsys, "convert", "good.pt", "a.safetensors", "--dtype", "bf16")[0] == 0
    assert lore(capsys, "convert", "good.pt", "a.safetensors")[0] == 2
    assert lore(capsys, "convert", "good.pt", "a.safetensors", "--force")[0] == 0
    assert lore(capsys, "diff", "good.pt", "a.safetensors")[0] == 0
    status, out, _ = lore(capsys, "diff", "good.pt", "other.pt")
    assert status == 1
    assert "differ" in out
    assert lore(capsys, "average", "good.pt", "other.pt", "-o", "mean.pt")[0] == 0
    got, want = torch.load("mean.pt"), torch.load("good.pt")["model"]
    torch.testing.assert_close(got["3.weight"], want["3.weight"] * 1.5)
    status, out, _ = lore(capsys, "repair", "cut.pt")
    assert status == 0
    assert torch.load("cut.repaired.pt")["epoch"] == 3
    status, out, _ = lore(capsys, "match", "other.pt", "good.pt", "--apply", "renamed.pt")
    assert status == 0
    assert "take the prefix 'module.' off" in out
    assert list(torch.load("renamed.pt")) == list(want)
    status, out, _ = lore(capsys, "match", "good.pt", "resnet18", "--json")
    assert status == 1
    assert json.loads(out)["mapping"] == {}


def test_names_from_a_file_cannot_steer_the_terminal(files, capsys):
    torch.save({"\x1b[31mred\x1b[0m": torch.ones(2), "[bold]x": torch.ones(2), "line\nbreak": torch.ones(1)}, "evil.pt")
    _, out, _ = lore(capsys, "show", "evil.pt")
    assert r"\x1b[31mred" in out
    assert "[bold]x" in out
    assert r"line\nbreak" in out
    (files / "evil.zip").write_bytes(zipped({"\x1b[2J\n": b"x"}))
    _, _, err = lore(capsys, "show", "evil.zip")
    assert r"\x1b[2J\n" in err
    (files / "evil.pkl").write_bytes(P4 + name("a", "b\x1b[2J") + b")R0" + text("x") + b".")
    _, out, _ = lore(capsys, "scan", "evil.pkl")
    assert r"\x1b[2J" in out


def test_torch_is_not_needed():
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from torchlore.cli import main\n"
        "code = [main(['ckpt', 'show', sys.argv[1]]), main(['ckpt', 'scan', sys.argv[1]])]\n"
        "code += [main(['ckpt', 'convert', sys.argv[1], sys.argv[2]]), main(['ckpt', 'diff', sys.argv[1], sys.argv[2]])]\n"
        "assert code == [0, 0, 0, 0], code\n"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        torch.save({"w": torch.ones(3), "b": torch.ones(2)}, f"{folder}/a.pt")
        subprocess.run(
            [sys.executable, "-c", script, f"{folder}/a.pt", f"{folder}/b.safetensors"],
            check=True,
            stdout=subprocess.DEVNULL,
        )


def test_the_recipes_offer_the_same(files):
    from torchlore.recipes import checkpoint

    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8, 4))
    want = torch.load("good.pt")["model"]
    got = checkpoint.weights("good.pt")
    assert all(torch.equal(got[key], want[key]) for key in want)
    assert checkpoint.match(checkpoint.weights("other.pt"), net).complete
    net.load_state_dict(checkpoint.fit(checkpoint.weights("other.pt"), net))
    assert torch.equal(net[3].weight, want["3.weight"] * 2)
    assert checkpoint.dangers("good.pt") == []
    assert checkpoint.dangers("bad.pt")[0].startswith("dangerous: os.system")
    half = checkpoint.weights(checkpoint.convert("other.pt", "h.safetensors", dtype="bfloat16"))
    assert half["3.weight"].dtype == torch.bfloat16
    assert torch.equal(half["3.weight"], (want["3.weight"] * 2).bfloat16())
    assert checkpoint.distance("good.pt", "other.pt")["3.weight"] == pytest.approx(1)


# ru_maxrss would count the parent's memory from before the exec; VmHWM is of this program alone
SHOW_AND_MEASURE = """
import pathlib, re, sys
from torchlore.cli import main
main(["ckpt", "show", sys.argv[1]])
status = pathlib.Path("/proc/self/status").read_text()
print(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1], file=sys.stderr)
"""


@pytest.mark.long
def test_four_gigabytes_in_three_seconds_and_three_hundred_megabytes(tmp_path):
    """Needs 4 GB of disk; the file lies in the page cache, as after a download."""
    import time

    from torchlore.ckpt.write import Out, write_torch

    block = torch.randn(1 << 20).numpy().tobytes()
    state = {
        f"layers.{number}.weight": Out((2048, 2048), "float32", make=lambda: iter([block] * 4)) for number in range(240)
    }
    write_torch({"model": state}, tmp_path / "big.pt")
    assert (tmp_path / "big.pt").stat().st_size > 4e9
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", SHOW_AND_MEASURE, str(tmp_path / "big.pt")], check=True, capture_output=True, text=True
    )
    assert time.perf_counter() - start < 3
    assert "240 tensors" in done.stdout
    assert int(done.stderr) < 300 * 1024
