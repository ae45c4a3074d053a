"""Other spellings of discarded-tensor-op, and code that only looks like it."""
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F


def mask(scores: torch.Tensor, pad, labels):
    scores.masked_fill(pad, float("-inf"))  # trap: discarded-tensor-op
    labels.unsqueeze(1)  # trap: discarded-tensor-op
    torch.clamp(scores, 0, 1)  # trap: discarded-tensor-op
    F.relu(scores)  # trap: discarded-tensor-op
    scores[0].detach()  # trap: discarded-tensor-op
    return scores


def clip(model: torch.nn.Module, c):
    for p in model.parameters():
        p.data.clamp(-c, c)  # trap: discarded-tensor-op


# clean
def fine(x: torch.Tensor, graph, out, names):
    x.clamp_(0, 1)
    x = x.unsqueeze(0)
    torch.clamp(x, 0, 1, out=out)
    F.relu(x, inplace=True)
    graph.view()
    plt.scatter([1], [2])
    names.add("a")
    graph.repeat(3)
    try:
        x.view(-1)
    except RuntimeError:
        x = x.contiguous()
    return x


def test_view_refuses(pytest, x: torch.Tensor):
    with pytest.raises(RuntimeError):
        x.view(7)


def shared(model, world, other):
    for p in model.parameters():
        torch.distributed.all_reduce(p.grad.data)
        p.grad.data / world  # trap: discarded-tensor-op
        p.grad /= world
    first, second = torch.zeros(3), other
    first + second  # trap: discarded-tensor-op
    other >> second
    return first
