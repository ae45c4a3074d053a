"""The network: any backbone whose head gives the embedding, and the batch norm between embedding and classifier."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn
from torch.nn import functional as F

from torchlore.train.models import Built, build
from torchlore.train.run import Run
from torchlore.train.samples import Data

WIDTH = 512  # features of an embedding


class Bare(nn.Module):
    """Embeddings of length 1, in training and after it: for triplets alone.

    The batch norm keeps them apart: without it the hardest triplets pull everything into one point first, where the loss
    is the margin and hardly moves.
    """

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.neck = nn.BatchNorm1d(WIDTH, affine=False)

    def forward(self, pictures: Tensor) -> Tensor:
        """Embeddings (B, WIDTH) of pictures."""
        return F.normalize(self.neck(self.backbone(pictures)), dim=1)


class BNNeck(nn.Module):
    """Triplets see the features, the classifier what a batch norm makes of them; the search uses the latter.

    A triplet wants distances and a classifier wants angles: the norm between them lets each have its own. Its bias and
    that of the classifier stay 0, so that the classes lie around the origin.
    """

    def __init__(self, backbone: nn.Module, classes: int) -> None:
        super().__init__()
        self.backbone = backbone
        self.neck = nn.BatchNorm1d(WIDTH)
        self.neck.bias.requires_grad_(False)
        self.classifier = nn.Linear(WIDTH, classes, bias=False)
        nn.init.normal_(self.classifier.weight, std=0.001)

    def forward(self, pictures: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Features (B, WIDTH) and logits (B, classes) in training; embeddings (B, WIDTH) of length 1 after it."""
        features = self.backbone(pictures)
        normed = self.neck(features)
        return (features, self.classifier(normed)) if self.training else F.normalize(normed, dim=1)


def build_model(run: Run, data: Data, *, load: bool = True) -> Built:
    """The run's backbone with a head of WIDTH features; the neck and the classifier where the loss has `ce`."""
    built = build(run, WIDTH, data.channels, load=load)
    heads = tuple(f"backbone.{name}" for name in built.heads)
    if "ce" not in run.loss.split("+"):
        return replace(built, model=Bare(built.model), heads=(*heads, "neck"))
    return replace(built, model=BNNeck(built.model, len(data.classes)), heads=(*heads, "neck", "classifier"))
