"""What the documents wrote about testing."""

from torchlore.catalogue import Erratum

_MODEL = "from torch import nn\nmodel = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\n"

ERRATA = (
    Erratum(
        id="E065",
        where="003:602-612",
        written="score = model(images)",
        proof=_MODEL
        + "for images in torch.randn(3, 4, 2):\n    score = model(images)\n"
        + "print(model[1].num_batches_tracked.item(), score.requires_grad)",
        happens="3 True",
        instead="`model.eval()` before, `with torch.inference_mode():` around.",
    ),
    Erratum(
        id="E112",
        where="003:342-344 vs 003:602-612",
        written="with torch.no_grad(): model.eval(); model(image) / score = model(images)",
        proof=_MODEL
        + "def tracked():\n    model(torch.randn(4, 2))\n    return model[1].num_batches_tracked.item()\n"
        + "plain = tracked()\nmodel.eval()\nprint(plain, tracked())",
        happens="1 1",
        instead="The first is right: testing needs both, as extracting does.",
    ),
)
