"""HDF5 works with loader workers if each worker opens the file itself.

`num_workers=0` is the cure most notes give for HDF5 under a DataLoader, and it gives up all parallel loading. The
loader has no bug: a handle opened in `__init__` cannot be pickled, so it fails at once where workers are spawned or
come from a fork server (macOS, Windows, and Linux from Python 3.14 on), and where they are forked all of them share one
file position and one lock. The full memory of the report is plain arithmetic: 8 workers times 2 batches of 256 MiB.

Open lazily, once per worker, and say how: `h5py.File(path)` means read only today.

```python
def __getitem__(self, i):
    if self.file is None:
        self.file = h5py.File(self.path, "r")
    return torch.from_numpy(self.file["x"][i])
```

Torch itself reads neither `.h5` nor Lua Torch's `.t7`: `load_lua` is gone. Convert a `.t7` once, where it can be read.
"""

ROWS = ("data-h5", "data-t7")
SOURCES = ("002:138-169", "https://github.com/pytorch/pytorch/issues/11929")
TORCH = "2.11, 2.15"
NEEDS = ("h5py", "two-processes")


def claim() -> None:
    import pickle
    import tempfile

    import h5py
    import torch
    from torch.utils.data import DataLoader, Dataset

    from torchlore.recipes.data import H5Dataset

    class Lazy(Dataset[torch.Tensor]):
        def __init__(self, path: str) -> None:
            self.path: str = path
            self.file: h5py.File | None = None

        def __len__(self) -> int:
            return 24

        def __getitem__(self, index: int) -> torch.Tensor:
            if self.file is None:
                self.file = h5py.File(self.path, "r")
            return torch.from_numpy(self.file["x"][index])

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.h5"
        x = torch.arange(24.0 * 5).view(24, 5)
        with h5py.File(path, "w") as file:
            file["x"] = x.numpy()

        with h5py.File(path, "r") as file:
            try:
                pickle.dumps(vars(Lazy(path)) | {"file": file})
            except TypeError:
                pass
            else:
                raise AssertionError("an open HDF5 file was pickled")
        pickle.dumps(vars(Lazy(path)))

        for data in (Lazy(path), H5Dataset(path, ["x"])):
            loader = DataLoader(data, batch_size=4, num_workers=2, multiprocessing_context="fork")
            for _ in range(2):
                assert torch.equal(torch.cat(list(loader)), x)
