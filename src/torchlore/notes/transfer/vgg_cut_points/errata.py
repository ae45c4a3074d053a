"""What the documents wrote about VGG's features."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E053",
        where="003:336",
        written="# VGG-16 fc7 feature. ... list(model.classifier.children())[:-3]",
        proof=(
            "from torchvision.models import vgg16\n"
            "with torch.device('meta'):\n    model = vgg16()\n"
            "print(list(model.classifier.children())[:-3][-1])"
        ),
        happens="Linear(",
        instead="`model.classifier[:-2]` ends in the ReLU: fc7 is taken after it.",
    ),
)
