"""VGG's fc7 feature is `classifier[:-2]`; cutting three layers stops before the ReLU.

`vgg16().features[:-1]` ends in the last ReLU (relu5-3, 512 x 14 x 14 for a picture of 224), `.features` in the last
pooling (pool5, 512 x 7 x 7). The classifier is Linear, ReLU, Dropout, Linear, ReLU, Dropout, Linear. Cutting the last
three layers, as the notes do for fc7, leaves the bare Linear: half of its values are negative, where the feature that
the literature calls fc7 has none.

Cut two: `model.classifier = model.classifier[:-2]`, and call `model.eval()`, or the first Dropout still draws.
`torchvision.models.feature_extraction.create_feature_extractor(model, {"classifier.4": "fc7"})` says the same by name;
`torchlore.recipes.features` returns several at once.
"""

ROWS = ("transfer-vgg-relu53", "transfer-vgg-pool5", "transfer-vgg-fc7")
SOURCES = ("003:330-336",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)


def claim() -> None:
    import torch
    from torch import nn
    from torchvision.models import vgg16

    with torch.device("meta"):  # shapes only: the weights would fill half a gigabyte
        model = vgg16(weights=None)
        x = torch.zeros(1, 3, 224, 224)
    assert model.features[:-1](x).shape == (1, 512, 14, 14)
    assert isinstance(model.features[:-1][-1], nn.ReLU)
    assert model.features(x).shape == (1, 512, 7, 7)
    assert isinstance(model.features[-1], nn.MaxPool2d)
    as_written = nn.Sequential(*list(model.classifier.children())[:-3])
    assert as_written(torch.zeros(1, 25088, device="meta")).shape == (1, 4096)

    # the same layers, narrow, to see values
    torch.manual_seed(0)
    kinds = [type(layer) for layer in model.classifier]
    assert kinds == [nn.Linear, nn.ReLU, nn.Dropout, nn.Linear, nn.ReLU, nn.Dropout, nn.Linear]
    narrow = nn.Sequential(*(nn.Linear(16, 16) if kind is nn.Linear else kind() for kind in kinds))
    y = torch.randn(8, 16)
    assert not torch.equal(narrow[:-2](y), narrow[:-2](y))  # Dropout draws in train mode
    narrow.eval()
    assert torch.equal(narrow[:-2](y), narrow[:-2](y))
    assert narrow[:-3](y).min() < 0
    assert narrow[:-2](y).min() == 0
