"""What the documents wrote about the size of a convolution's output."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E081",
        where="001:64",
        written="O = (H + 2P - D(F - 1) - 1) / S + 1",
        proof="H, P, D, F, S = 8, 0, 1, 3, 2\nprint((H + 2 * P - D * (F - 1) - 1) / S + 1)",
        happens="3.5",
        instead="Round down: `(H + 2*P - D*(F-1) - 1) // S + 1` is 3, which is what torch gives.",
    ),
    Erratum(
        id="E082",
        where="001:65",
        written="F=3, padding = dilation: SAME",
        proof="from torch import nn\nprint(nn.Conv2d(1, 1, 3, stride=2, padding=1)(torch.zeros(1, 1, 9, 9)).shape[-1])",
        happens="5",
        instead="It keeps the size at stride 1 only; no padding does with a larger stride.",
    ),
)
