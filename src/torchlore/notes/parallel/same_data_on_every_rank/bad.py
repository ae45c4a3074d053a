import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def work(rank, folder, answers):
    store = dist.FileStore(f"{folder}/store", 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    torch.manual_seed(0)
    data = TensorDataset(torch.arange(32.0).unsqueeze(1) / 32)
    loader = DataLoader(data, batch_size=4, shuffle=True)  # trap: same-data-on-every-rank
    model = nn.parallel.DistributedDataParallel(nn.Linear(1, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = []
    for (x,) in loader:
        optimizer.zero_grad()
        (model(x) - x).pow(2).mean().backward()
        optimizer.step()
        seen += x.flatten().tolist()
    answers.put((rank, seen))
    dist.destroy_process_group()


if __name__ == "__main__":
    context = mp.get_context("fork")
    answers = context.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        other = context.Process(target=work, args=(1, folder, answers))
        other.start()
        work(0, folder, answers)
        seen = dict(answers.get() for _ in range(2))
        other.join()
    result = {"common": len(set(seen[0]) & set(seen[1]))}
