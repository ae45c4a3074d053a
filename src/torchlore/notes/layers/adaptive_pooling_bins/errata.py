"""What the documents wrote about adaptive pooling."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E079",
        where="001:56",
        written="the function computes the pooling's stride and kernel_size by itself",
        proof="""
from torch import nn
x = torch.arange(10.0).view(1, 1, 10)
wanted = nn.AdaptiveAvgPool1d(4)(x)
same = [(k, s) for k in range(1, 11) for s in range(1, 11)
        if (y := nn.AvgPool1d(k, s)(x)).shape == wanted.shape and torch.allclose(y, wanted)]
print("kernel and stride pairs that give the same:", len(same))
""",
        happens="kernel and stride pairs that give the same: 0",
        instead="It gives bins from floor(i*H/n) to ceil((i+1)*H/n), of unequal size and overlapping.",
    ),
)
