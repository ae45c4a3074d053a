"""A file cut short by a crash still holds its whole tensors; `torch.load` gives none of them.

`torch.save(state, path)` writes in place: killed in the middle, the old file is gone and the new one is half. The zip
directory is at the end, so the half file does not open at all (`failed finding central directory`).

Write to another name in the same folder, flush, `os.replace`: `save` of `torchlore.recipes.checkpoint` does. For the file
that is cut already, `lore ckpt repair FILE` saves the tensors that are whole and names the others.
"""

ROWS = ()
SOURCES = ("https://github.com/sml2h3/dddd_trainer/issues/36",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim() -> None:
    import tempfile
    from pathlib import Path

    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.checkpoint import repair

    state = {f"layer{n}.weight": torch.full((100, 100), float(n)) for n in range(5)}
    with tempfile.TemporaryDirectory() as folder:
        path, whole = Path(folder) / "last.pt", Path(folder) / "repaired.pt"
        torch.save(state, path)
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 3 // 5])
        assert error_of(lambda: torch.load(path)) == "RuntimeError"
        repair(path, whole)
        saved = torch.load(whole)
    assert 2 <= len(saved) < 5
    assert all(torch.equal(saved[name], state[name]) for name in saved)
