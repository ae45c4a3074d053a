"""What the documents wrote about the number of workers."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E111",
        where="003:668-669 against 002:62 and 002:162",
        written="num_workers: hand-tune for best performance / set num_workers to 0",
        proof=(
            "from torch.utils.data import DataLoader\n"
            "print(sorted(int(x) for x in DataLoader(torch.arange(4), num_workers=2)) == [0, 1, 2, 3])"
        ),
        happens="True",
        instead="Tune it. Workers fail for a reason that can be cured: a small /dev/shm, or a file opened before the fork.",
    ),
)
