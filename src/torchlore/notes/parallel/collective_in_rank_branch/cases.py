import torch
import torch.distributed as dist


def average(loss, rank, world_size):
    if rank == 0:
        dist.all_reduce(loss)  # trap: collective-in-rank-branch
        print(loss / world_size)


def save(model, path):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
        torch.distributed.barrier()  # trap: collective-in-rank-branch


class Trainer:
    def log(self, value):
        if not self.is_main_process:
            return
        if self.local_rank == 0:
            dist.reduce(value, 0)  # trap: collective-in-rank-branch


def download_first(rank, fetch):
    if rank != 0:
        dist.barrier()
    fetch()
    if rank == 0:
        dist.barrier()


def both_branches(rank, value, group):
    if rank == 0:
        dist.broadcast(value, src=0)
    else:
        dist.broadcast(value, src=0)
    dist.all_reduce(value)
    if rank == 0:
        print(value)
    if rank in (0, 1):
        dist.all_reduce(value, group=group)
    if dist.is_initialized():
        dist.barrier()


def stop_together(rank, stop):
    if rank != -1:
        told = [stop if rank == 0 else None]
        dist.broadcast_object_list(told, 0)
    if rank >= 0:
        dist.barrier()


def save_first(rank, save):
    if dist.is_initialized() and rank != 0:
        dist.barrier()
    if rank in [-1, 0]:
        save()
        if dist.is_initialized():
            dist.barrier()
