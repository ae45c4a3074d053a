"""`torch.load` puts tensors back on the device they were saved from: give it `map_location`.

A file saved from `cuda:0` loads onto `cuda:0`. On a machine without CUDA that is a RuntimeError; on a machine with
several processes every one of them fills the first GPU; with a model already there the weights are in its memory twice.

Load to the CPU and let `load_state_dict` copy into the model, wherever that is:

```python
state = torch.load(path, map_location="cpu", weights_only=True)
model.load_state_dict(state)
```
"""

from collections.abc import Iterator

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

ROWS = ("ckpt-map-location",)
SOURCES = ("003:262-265",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim(bad: dict[str, str], good: dict[str, str], device: str) -> None:
    import io
    import tempfile

    import torch

    from torchlore.recipes import checkpoint

    assert bad["device"] == ("cuda" if torch.cuda.is_available() else "RuntimeError")
    assert good["device"] == "cpu"

    file = io.BytesIO()
    torch.save(torch.ones(3, device=device), file)
    for how, where in (({}, device), ({"map_location": "cpu"}, "cpu")):
        file.seek(0)
        loaded = torch.load(file, weights_only=True, **how)  # type: ignore[arg-type]  # with and without
        assert loaded.device.type == where
        assert loaded.tolist() == [1.0, 1.0, 1.0]
    with tempfile.TemporaryDirectory() as folder:
        path = checkpoint.save({"w": torch.ones(3, device=device)}, f"{folder}/a.pt")
        assert checkpoint.load(path)["w"].device.type == "cpu"  # unless it is told otherwise


WORDS = ("load",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.load"):
        if tree.lacks(call, 1, "map_location"):
            yield source.hit(
                call,
                'tensors go back to the device they were saved from, which may not be here: add map_location="cpu"',
                edits.add_keyword(source, call, "map_location", '"cpu"'),
            )
