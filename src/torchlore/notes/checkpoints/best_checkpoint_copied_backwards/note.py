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

ROWS = ("ckpt-save-best",)
SOURCES = ("003:552-566",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    assert bad["epochs"] == [0, 0]  # the fresh checkpoint became the stale one
    assert good["epochs"] == [3, 3]
