"""Make the two pictures of the README from the real commands: a finding in the terminal, and a report in the browser."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(512, 20)
y = x[:, :4].argmax(dim=1)
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4), nn.Softmax(dim=1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(5):
    total = 0
    for inputs, labels in loader:
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        total += loss
    print(f"epoch {epoch}: {total / len(loader):.4f}")
"""


def lore(folder: Path, *words: str) -> str:
    """What a command prints, colours included."""
    environment = dict(os.environ, FORCE_COLOR="1", COLUMNS="110", OMP_NUM_THREADS="1")
    command = [sys.executable, "-m", "torchlore", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def finding(folder: Path) -> None:
    """The terminal."""
    (folder / "train.py").write_text(SCRIPT)
    console = Console(record=True, width=110, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123 - it lives as long as the console
    console.print(Text("$ lore check train.py\n", style="bold"))
    console.print(Text.from_ansi(lore(folder, "check", "train.py")))
    svg = re.sub(
        r"@font-face \{.*?\}", "", console.export_svg(title="lore check"), flags=re.DOTALL
    )  # no font from another host
    (PICTURES / "finding.svg").write_text(svg.replace("<!-- Generated with Rich https://www.textualize.io -->", ""))


def report(folder: Path) -> None:
    """The browser."""
    from playwright.sync_api import sync_playwright

    lore(folder, "train", "--name", "digits")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1100, "height": 1230})
        page.goto((folder / "runs" / "digits" / "report.html").as_uri())
        page.screenshot(path=PICTURES / "report.png")
        browser.close()


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        finding(Path(name))
        report(Path(name))
