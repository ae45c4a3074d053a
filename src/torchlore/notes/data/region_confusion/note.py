"""Region confusion must cut the picture, dims -2 and -1, with offsets drawn evenly on both sides.

Region confusion shuffles the blocks of a picture, each to a place near its own. The listing that is copied around says
N x D x H x W and then cuts dims 1 and 2. On a batch these are channels and rows: with 3 channels it stops, with a
divisible number of channels it silently mixes channels and never moves a column. It draws its offsets with
`randint(-k, k)`, which leaves `k` itself out, so `k=1` never moves anything; and a side that the blocks do not divide
works only when the draw happens to be lucky.

Cut the last two dims, draw the offsets as real numbers from -k to k, sort, and gather:
`torchlore.recipes.augment.region_confusion(x, blocks, reach)` takes any leading dims and keeps every pixel.
"""

ROWS = ("data-rcm",)
SOURCES = ("003:269-292",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import torch

    def literal(x: torch.Tensor, blocks: int, reach: int) -> torch.Tensor:
        def order(across: int) -> torch.Tensor:
            near = torch.arange(blocks).unsqueeze(1 - across).expand(blocks, blocks)
            return torch.argsort(near + torch.randint(-reach, reach, (blocks, blocks)), dim=across)

        cut = [torch.chunk(row, blocks, dim=2) for row in torch.chunk(x, blocks, dim=1)]
        rows, columns = order(0), order(1)
        cut = [tuple(cut[int(rows[i, j])][j] for j in range(blocks)) for i in range(blocks)]
        cut = [tuple(cut[i][int(columns[i, j])] for j in range(blocks)) for i in range(blocks)]
        return torch.cat([torch.cat(row, dim=2) for row in cut], dim=1)

    torch.manual_seed(0)
    columns = torch.arange(8.0).expand(2, 4, 8, 8)  # the value of a pixel is its column
    channels = torch.arange(4.0).view(1, 4, 1, 1).expand(2, 4, 8, 8)
    assert all(torch.equal(literal(columns, 4, 2), columns) for _ in range(20))  # no column ever moves
    assert any(not torch.equal(literal(channels, 4, 2), channels) for _ in range(20))  # channels do
    try:
        literal(torch.zeros(2, 3, 8, 8), 4, 2)
    except IndexError:
        pass
    else:
        raise AssertionError("three channels were cut into four blocks")
    picture = torch.arange(64.0).view(1, 8, 8)
    assert torch.equal(literal(picture, 4, 1), picture)  # a reach of 1 moves nothing
    assert not torch.equal(literal(picture, 4, 3), picture)

    from torchlore.recipes.augment import region_confusion

    x = torch.arange(2.0 * 3 * 8 * 8).view(2, 3, 8, 8)
    y = region_confusion(x, 4, 1)
    assert torch.equal(y.flatten(2).sort().values, x.flatten(2))  # a permutation inside each channel
    assert not torch.equal(region_confusion(columns, 4, 1), columns)
    assert torch.equal(region_confusion(channels, 4, 2), channels)
