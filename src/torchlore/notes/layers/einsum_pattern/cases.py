import torch
from einops import rearrange, reduce, repeat


def bad(x, y):
    a = torch.einsum("ij,jk->ik", x, y, x)  # trap: einsum-pattern
    b = torch.einsum("ij,jk->ii", x, y)  # trap: einsum-pattern
    c = rearrange(x, "b c h w -> b (h w)")  # trap: einsum-pattern
    d = rearrange(x, "b (c h w -> b c h w", h=2)  # trap: einsum-pattern
    e = reduce(x, "b c h w -> b c t", "mean")  # trap: einsum-pattern
    f = rearrange(x, "b c h w  b (c h w)")  # trap: einsum-pattern
    return a, b, c, d, e, f


def fine(x, y, several, pattern):
    a = torch.einsum("bhqd,bhkd->bhqk", x, y)
    b = torch.einsum("...ij,...jk->...ik", x, y)
    c = torch.einsum("ii", x), torch.einsum("ij,jk", [x, y]), torch.einsum(pattern, x)
    d = rearrange(x, "b (h w) c -> b c h w", h=14), rearrange(x, "... c -> c ..."), rearrange(x, "b 1 c -> b c")
    e = reduce(x, "b c (h 2) (w 2) -> b c h w", "max"), reduce(x, "b c h w -> b c", reduction="mean")
    f = repeat(x, "h w -> h w c", c=3), repeat(x, "h w -> (h 2) w")
    return a, b, c, d, e, f, torch.einsum("ij,jk->ik", *several)
