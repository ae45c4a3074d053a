"""What the documents wrote about extracting features."""

from torchlore.catalogue import Erratum

_EXTRACTOR = """
from torch import nn
class FeatureExtractor(torch.nn.Module):
    def __init__(self, pretrained_model, layers_to_extract):
        torch.nn.Module.__init__(self)
        self._model = pretrained_model
        self._model.eval()
        self._layers_to_extract = set(layers_to_extract)

    def forward(self, x):
        with torch.no_grad():
            conv_representation = []
            for name, layer in self._model.named_children():
                x = layer(x)
                if name in self._layers_to_extract:
                    conv_representation.append(x)
            return conv_representation
net = nn.Sequential(nn.Conv2d(1, 4, 1), nn.BatchNorm2d(4), nn.ReLU(inplace=True))
x = torch.randn(2, 1, 8, 8)
"""

ERRATA = (
    Erratum(
        id="E054",
        where="003:373-376",
        written="conv_representation.append(x)",
        proof=_EXTRACTOR
        + "with torch.no_grad():\n    bn = FeatureExtractor(net, {'1'})(x)[0]\n"
        + "    want = net[1](net[0](x))\nprint(torch.equal(bn, want), torch.equal(bn, want.relu()))",
        happens="False True",
        instead="`conv_representation.append(x.clone())`, or turn `inplace` off on every module.",
    ),
    Erratum(
        id="E055",
        where="003:375",
        written="if name in self._layers_to_extract:",
        proof=_EXTRACTOR + "print(FeatureExtractor(net, {'nope', 'layer1.0'})(x))",
        happens="[]",
        instead="Look the names up with `model.get_submodule(name)`: it takes nested names and raises for unknown ones.",
    ),
    Erratum(
        id="E056",
        where="003:367",
        written="self._model.eval()",
        proof=_EXTRACTOR + "whole = FeatureExtractor(net, {'1'})\nwhole.train()\nprint(net.training)",
        happens="True",
        instead="Call `eval()` where you extract, not where you build: the next `.train()` undoes it.",
    ),
)
