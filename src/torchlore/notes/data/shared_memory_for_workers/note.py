"""Workers keep num_workers x prefetch_factor batches in shared memory, and a container gives 64 MB.

A loader's workers hand each batch over in `/dev/shm`. Before the first batch is used, every worker has already been
asked for `prefetch_factor` (2) of them. In a container with the usual 64 MB the run then dies with a bus error, or with
`unable to allocate shared memory(shm)`. Setting `num_workers=0` cures it by giving up all parallel loading.

Work out the need first: `(num_workers * prefetch_factor + 2) * bytes of one batch`. Then give the container more
(`docker run --shm-size=8g` or `--ipc=host`), or lower the batch size, `prefetch_factor` or the number of workers. Move
uint8 pictures through the workers and make them floats on the GPU: four times less. `lore doctor` compares need and
size.
"""

ROWS = ("data-shm",)
SOURCES = ("002:60-62",)
TORCH = "2.11, 2.15"
NEEDS = ("two-processes",)


def claim() -> None:
    import multiprocessing
    import time

    import torch
    from torch.utils.data import DataLoader, Dataset

    made = multiprocessing.get_context("fork").Value("i", 0)

    class Counting(Dataset[torch.Tensor]):
        def __len__(self) -> int:
            return 64

        def __getitem__(self, index: int) -> torch.Tensor:
            with made.get_lock():
                made.value += 1
            return torch.zeros(8)

    def in_flight(workers: int, prefetch: int) -> int:
        """Batches of one sample that are made while the first one is in use."""
        made.value = 0
        how = {"num_workers": workers, "prefetch_factor": prefetch, "multiprocessing_context": "fork"}
        batches = iter(DataLoader(Counting(), batch_size=1, **how))  # type: ignore[arg-type]  # one dict of settings
        first = next(batches)
        assert first.is_shared()  # it came through shared memory
        deadline, wanted = time.monotonic() + 5, workers * prefetch + 1
        while made.value < wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        return int(made.value)

    assert in_flight(1, 2) == 3  # the one in use, and two ahead
    assert in_flight(1, 5) == 6
    assert in_flight(2, 2) == 5
    assert not next(iter(DataLoader(Counting(), batch_size=1))).is_shared()  # without workers: none at all
