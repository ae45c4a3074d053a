import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def work(rank, folder, answers):
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        x = torch.randn(8, 4)
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
    answers.put((rank, model.module.weight.detach().numpy().copy()))
    dist.destroy_process_group()


if __name__ == "__main__":
    context = mp.get_context("fork")
    answers = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        other = context.Process(target=work, args=(1, folder, answers))
        other.start()
        work(0, folder, answers)
        weights = dict(answers.get() for _ in range(2))
        other.join()
    result = {"apart": float(abs(weights[0] - weights[1]).max())}
