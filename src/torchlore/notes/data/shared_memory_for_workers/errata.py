"""What the documents wrote about shared memory."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E094",
        where="002:62",
        written="set num_workers of the DataLoader to 0",
        proof=(
            "workers, prefetch, batch = 4, 2, 32 * 3 * 224 * 224\n"
            "print((workers * prefetch + 2) * batch * 4 // 2**20, (workers * prefetch + 2) * batch // 2**20)"
        ),
        happens="183 45",
        instead=(
            "MiB needed by a float and by a uint8 batch: the second fits into 64 MiB with four workers. Give the "
            "container more with `--shm-size`, or lower batch, prefetch_factor or workers; 0 workers is the last resort."
        ),
    ),
)
