import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, folder, answers):
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=4))
    value = torch.tensor(float(2 if rank == 0 else 1))
    answer = value.item()
    if rank == 0:
        try:
            dist.all_reduce(value)  # trap: collective-in-rank-branch
            answer = value.item()
        except RuntimeError:
            answer = "waited in vain"
    answers.put((rank, answer))


if __name__ == "__main__":
    context = mp.get_context("fork")
    answers = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        both = [context.Process(target=work, args=(rank, folder, answers)) for rank in range(2)]
        for one in both:
            one.start()
        sums = dict(answers.get() for _ in both)
        for one in both:
            one.join()
    result = {"sums": [sums[rank] for rank in range(2)]}
