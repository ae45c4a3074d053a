"""What the documents wrote about fine-tuning."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E027",
        where="003:385",
        written="model.fc = nn.Linear(512, 100)",
        proof="fc = nn.Linear(512, 100)",
        happens="NameError: name 'nn' is not defined",
        instead="`from torch import nn`, and `nn.Linear(model.fc.in_features, 100)`.",
    ),
    Erratum(
        id="E057",
        where="003:383-386",
        written="param.requires_grad = False",
        proof=(
            "bn = torch.nn.BatchNorm2d(3)\nfor param in bn.parameters():\n    param.requires_grad = False\n"
            "bn(torch.randn(8, 3, 4, 4) + 5)\nprint((bn.running_mean != 0).all().item())"
        ),
        happens="True",
        instead="Put frozen batch norm into eval mode: `requires_grad` says nothing about running statistics.",
    ),
)
