"""`shutil.copy(source, target)`: the other way round, the fresh checkpoint is overwritten.

The listing of the notes saves to `model/checkpoint.pth.tar` and, at a new best, copies
`shutil.copy("checkpoint.pth.tar", model_path)`: source and target are the wrong way round. With luck that is a
FileNotFoundError at the first best epoch. If an old file of that name lies in the working folder, it replaces the
checkpoint that was just written, and nobody is told. The folder is never made either, and a run that is killed while
saving leaves half a file.

Write to a temporary name and rename it, which is one step for the file system, then copy from the fresh file:

```python
folder.mkdir(parents=True, exist_ok=True)
torch.save(checkpoint, folder / "last.pt.tmp")
os.replace(folder / "last.pt.tmp", folder / "last.pt")
if is_best:
    shutil.copy(folder / "last.pt", folder / "best.pt")
```

`torchlore.recipes.checkpoint` does this, with the scheduler and the random state inside.
"""

import ast
from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

ROWS = ("ckpt-save-best",)
SOURCES = ("003:552-566",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["epochs"] == [0, 0]  # the fresh checkpoint became the stale one
    assert good["epochs"] == [3, 3]


_COPY = ("shutil.copy", "shutil.copyfile", "shutil.copy2", "shutil.move")
WORDS = ("copy|copyfile|copy2|move", "save")


def find(source: Source) -> Iterator[Hit]:
    saves = list(source.calls("torch.save"))
    for call in source.calls(*_COPY) if saves else ():
        if len(call.args) != 2 or tree.spread(call):
            continue
        home = tree.function(source, call)
        before = [one for one in saves if tree.function(source, one) is home and one.lineno < call.lineno]
        path = tree.argument(before[-1], 1, "f") if before else None
        start, target = call.args
        if path is not None and _same(path, target) and not _same(path, start):
            first, second = source.code(start), source.code(target)
            yield source.hit(
                call,
                f"the source comes first: this overwrites `{second}`, which was just saved, with `{first}`; write "
                f"`{source.code(call.func)}({second}, {first})`",
                edits.replace(source, start, second),
                edits.replace(source, target, first),
            )


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)
