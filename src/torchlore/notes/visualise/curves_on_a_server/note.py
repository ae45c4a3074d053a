"""Curves kept by a plot server are lost with it: write a log file first, draw from it later.

The Visdom recipe closes the environment at the start, which wipes what an earlier part of the same run drew; a
resumed run begins its curves at nothing. It needs a server that is up before training starts, gives long tracebacks
when it is not, and one `vis.line` call for each curve, where a forgotten `name=` leaves a trace called "1". Visdom
0.2.4 no longer builds with current setuptools, and its server fetches its front end from the internet.

Append one line a step or epoch to a file that stays with the checkpoint, and let any viewer read it. A resumed run
appends. `lore train` writes such a log and draws it in its report.

```python
with open(run / "log.jsonl", "a") as log:
    print(json.dumps({"epoch": epoch, "train_loss": train_loss, "lr": lr}), file=log)
```
"""

ROWS = ("vis-visdom",)
SOURCES = ("003:493", "003:495-518")
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import json
    import tempfile
    from pathlib import Path

    def session(log: Path, epochs: range, mode: str) -> None:
        with log.open(mode) as file:
            for epoch in epochs:
                print(json.dumps({"epoch": epoch, "train_loss": 1 / (epoch + 1)}), file=file)

    def epochs_kept(mode: str) -> list[int]:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log.jsonl"
            session(log, range(3), mode)
            session(log, range(3, 5), mode)  # resumed
            return [json.loads(line)["epoch"] for line in log.read_text().splitlines()]

    assert epochs_kept("w") == [3, 4]  # wiped at the start, as close() does
    assert epochs_kept("a") == [0, 1, 2, 3, 4]
