"""What the documents wrote about bilinear pooling."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E016",
        where="003:186",
        written="X = torch.reshape(N, D, H * W)",
        proof="N, D, H, W = 2, 4, 3, 3\nX = torch.reshape(N, D, H * W)",
        happens="TypeError: reshape()",
        instead="`X = torch.reshape(X, (N, D, H * W))`, or `X.flatten(2)`.",
    ),
)
