"""Save the `state_dict`, not the module: a pickled module needs its class, its path and your trust.

`torch.save(model, path)` pickles the object: the file names the class and the module it was defined in. Rename the file
or move the class, and it does not load; edit the class, and it loads and fails at the call. Since torch 2.6 `torch.load`
refuses it (`weights_only=True` is the default), and `weights_only=False` runs whatever code the file holds. One of the
five documents says that saving the module is much better; an earlier line of the same document says the opposite, and
that one is right.

```python
torch.save(model.state_dict(), path)
...
model = Net()
model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
```

To ship a program with its weights, use `torch.export`; for weights alone, safetensors.
"""

from typing import Annotated

from torchlore.watch.pictures import Alarm, Call

ROWS = ("ckpt-state-dict", "ckpt-whole-model")
SOURCES = ("001:1-2", "001:72")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import pickle
    import tempfile
    from pathlib import Path

    import torch

    from torchlore.recipes import checkpoint

    assert bad["loaded"] == "UnpicklingError"
    assert good["loaded"] == "same weights"

    with tempfile.TemporaryDirectory() as folder:
        mark = Path(folder) / "was here"

        class Bomb:
            def __reduce__(self) -> tuple[object, tuple[str]]:
                return Path.touch, (mark,)  # type: ignore[return-value]  # a pickle may call anything

        path = Path(folder) / "model.pt"
        torch.save(Bomb(), path)
        try:
            torch.load(path)
        except pickle.UnpicklingError:
            assert not mark.exists()
        else:
            raise AssertionError("the default load executed a pickle")
        checkpoint.save({"model": torch.nn.Linear(1, 1).state_dict()}, Path(folder) / "state.pt")
        assert set(checkpoint.load(Path(folder) / "state.pt")["model"]) == {"weight", "bias"}
        torch.load(path, weights_only=False)
        assert mark.exists()  # loading ran code out of the file


def watch(call: Annotated[Call, "torch.save"]) -> Alarm | None:
    given = call.argument(0, "obj")
    parts = given.items() if isinstance(given, dict) else [("", given)]
    for key, part in parts:
        if callable(getattr(part, "named_parameters", None)) and not type(part).__module__.startswith("torch.jit"):
            where = f' under "{key}"' if key else ""
            return Alarm(
                f"a whole {type(part).__name__} is pickled{where}: it needs its class to load, and torch.load refuses "
                "it; save its state_dict()"
            )
    return None
