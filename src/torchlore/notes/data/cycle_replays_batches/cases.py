from itertools import cycle

from torch.utils.data import DataLoader


def semi(labelled, unlabelled, held_out):
    first = DataLoader(labelled, batch_size=4, shuffle=True)
    second = DataLoader(unlabelled, batch_size=4, shuffle=True)
    fixed = DataLoader(held_out, batch_size=4)
    for (x, y), u in zip(cycle(first), second):  # trap: cycle-replays-batches
        yield x, y, u
    yield from zip(cycle(fixed), second)
    yield from zip(cycle([1, 2, 3]), second)
