"""Other spellings of nonblocking-to-cpu, and code that only looks like it."""
import torch

CPU = torch.device("cpu")


def collect(outputs: list[torch.Tensor], model: torch.nn.Module, x: torch.Tensor):
    kept = []
    y = model(x)
    kept.append(y.to("cpu", non_blocking=True))  # trap: nonblocking-to-cpu
    host = y.detach().to(CPU, non_blocking=True)  # trap: nonblocking-to-cpu
    half = x.to("cpu", torch.float16, non_blocking=True).mean()  # trap: nonblocking-to-cpu
    return kept, host, half


# clean
def fine(x: torch.Tensor, device):
    x = x.to(device, non_blocking=True)
    y = x.to("cpu")
    z = x.cuda(non_blocking=True)
    return x.to("cpu", non_blocking=False), y, z


def waited(x: torch.Tensor):
    host = x.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    return host.sum()


def given(x: torch.Tensor):
    return x.to("cpu", non_blocking=True)


def in_order(loader, model):
    for x in loader:
        out, ends = model(x)
        out = out.to("cpu", non_blocking=True)
        ends = ends.to("cpu")
        yield out[: ends[0]]


def put_away(model):
    model.head = model.head.to("cpu", non_blocking=True)


def gather(x: torch.Tensor, device=torch.device("cpu")):
    picked = x.to(device, non_blocking=True)
    return picked + 1


def process(model, parts):
    done = [model(part).cpu() for part in parts]
    return torch.vstack(done)


def once_more(model, parts):
    out = process(model, parts)
    out = out.to("cpu", non_blocking=True)
    return out[:-1]


class Offloaded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, x):
        put = x.to("cpu", non_blocking=True)
        ctx.save_for_backward(put)
        return run(x)
