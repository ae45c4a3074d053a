"""What the documents wrote about region confusion."""

from torchlore.catalogue import Erratum

_LITERAL = """
def rcm(X, num_blocks, neighbour):
    Q = (torch.unsqueeze(torch.arange(num_blocks), dim=1) * torch.ones(1, num_blocks).long()
         + torch.randint(low=-neighbour, high=neighbour, size=(num_blocks, num_blocks)))
    Q = torch.argsort(Q, dim=0)
    X = [torch.chunk(row, chunks=num_blocks, dim=2) for row in torch.chunk(X, chunks=num_blocks, dim=1)]
    X = [[X[Q[i, j].item()][j] for j in range(num_blocks)] for i in range(num_blocks)]
    Q = (torch.ones(num_blocks, 1).long() * torch.unsqueeze(torch.arange(num_blocks), dim=0)
         + torch.randint(low=-neighbour, high=neighbour, size=(num_blocks, num_blocks)))
    Q = torch.argsort(Q, dim=1)
    X = [[X[i][Q[i, j].item()] for j in range(num_blocks)] for i in range(num_blocks)]
    return torch.cat([torch.cat(row, dim=2) for row in X], dim=1)
"""

ERRATA = (
    Erratum(
        id="E022",
        where="003:271-291",
        written="# X is torch.Tensor of size N*D*H*W. ... torch.chunk(X, chunks=num_blocks, dim=1)",
        proof=_LITERAL + "rcm(torch.zeros(2, 3, 8, 8), 4, 2)",
        happens="IndexError: list index out of range",
        instead="Cut dims -2 and -1: `torchlore.recipes.augment.region_confusion`.",
    ),
    Erratum(
        id="E023",
        where="003:274",
        written="torch.randint(low=-neighbour, high=neighbour, ...)",
        proof=_LITERAL + "rcm(torch.zeros(3, 8, 8), 4, 0)",
        happens="RuntimeError: random_ expects 'from' to be less than 'to'",
        instead="A reach of 0 means no move: draw real numbers from -k to k, which allows it.",
    ),
    Erratum(
        id="E047",
        where="003:271-291",
        written="# Shulle columns.",
        proof=_LITERAL
        + "columns = torch.arange(8.).expand(2, 4, 8, 8)\n"
        + "print(all(torch.equal(rcm(columns, 4, 2), columns) for _ in range(20)))",
        happens="True",
        instead="With 4 channels it runs and mixes channels and rows; no column ever moves. Cut dims -2 and -1.",
    ),
    Erratum(
        id="E048",
        where="003:274,285",
        written="torch.randint(low=-neighbour, high=neighbour, ...)",
        proof="print(sorted(set(torch.randint(-2, 2, (1000,)).tolist())))",
        happens="[-2, -1, 0, 1]",
        instead="`torch.empty(n, n).uniform_(-k, k)`: even on both sides, and a reach of 1 moves blocks too.",
    ),
    Erratum(
        id="E049",
        where="003:278-291",
        written="torch.chunk(row, chunks=num_blocks, dim=2)",
        proof=_LITERAL
        + "def runs():\n"
        + "    try:\n        rcm(torch.zeros(1, 10, 10), 4, 2)\n"
        + "    except RuntimeError:\n        return False\n    return True\n"
        + "torch.manual_seed(0)\n"
        + "print(0 < sum(runs() for _ in range(200)) < 200)",
        happens="True",
        instead="Blocks of unequal size fit only by luck: ask for sides that the blocks divide, and say so.",
    ),
    Erratum(
        id="E117",
        where="003:269",
        written="mechanismï¼ŒRCM",
        proof="",
        happens="Three stray characters: the bytes of one full-width comma, read in the wrong encoding.",
        instead="mechanism, RCM",
    ),
    Erratum(
        id="E116",
        where="003:269,303,428,444",
        written="[2] [3] [4] [5]",
        proof="",
        happens="Four papers are cited by number, and no list of them follows.",
        instead="Chen et al. 2019 (region confusion), Wang et al. 2016 (TSN), Szegedy et al. 2016 (label smoothing), "
        "Zhang et al. 2018 (mixup).",
    ),
)
