"""What the documents wrote about transposed convolutions."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E080",
        where="001:61",
        written="output = (input-1)*stride + output_padding - 2*padding + kernel_size",
        proof="""
from torch import nn
print(nn.ConvTranspose1d(1, 1, 2, dilation=2)(torch.zeros(1, 1, 1)).shape[-1], "instead of", (1 - 1) * 1 + 0 - 0 + 2)
""",
        happens="3 instead of 2",
        instead="The kernel spans `dilation * (kernel - 1) + 1`: put that in the place of `kernel_size`.",
    ),
)
