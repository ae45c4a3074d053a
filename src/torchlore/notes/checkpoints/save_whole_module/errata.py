"""What the documents wrote about saving a model."""

from torchlore.catalogue import Erratum

_SAVE = """
import io
from torch import nn
file = io.BytesIO()
torch.save(nn.Linear(2, 2), file)
file.seek(0)
"""

ERRATA = (
    Erratum(
        id="E005",
        where="001:2",
        written="net2.load_state_dict(torch.load(net.pkl))",
        proof="net = torch.nn.Linear(2, 2)\ntorch.load(net.pkl)",
        happens="AttributeError: 'Linear' object has no attribute 'pkl'",
        instead='`torch.load("net.pkl", map_location="cpu", weights_only=True)`',
    ),
    Erratum(
        id="E086",
        where="001:72",
        written="save(model) is much better than save(model.state_dict())",
        proof=_SAVE + "torch.load(file)",
        happens="UnpicklingError: Weights only load failed",
        instead="Save the `state_dict`; it loads without running code and survives a renamed class.",
    ),
    Erratum(
        id="E108",
        where="001:1 vs 001:72",
        written="saving only the parameters is faster / save(model) is much better",
        proof=(
            "import io\nfile = io.BytesIO()\ntorch.save(torch.nn.Linear(2, 2).state_dict(), file)\nfile.seek(0)\n"
            "print(sorted(torch.load(file)))"
        ),
        happens="['bias', 'weight']",
        instead="The first line is right: the `state_dict` loads under today's default, the module does not.",
    ),
)
