"""What the documents wrote about halving the resolution."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E088",
        where="001:80",
        written="conv and pooling that halve the resolution: kernel=3 --> padding=1, kernel=5 --> padding=2",
        proof="""
from torch import nn
x = torch.zeros(1, 1, 32, 32)
print(nn.Conv2d(1, 1, 3, padding=1)(x).shape[-1], nn.MaxPool2d(3, padding=1)(x).shape[-1])
""",
        happens="32 11",
        instead="Add `stride=2` to both: the result is 16.",
    ),
)
