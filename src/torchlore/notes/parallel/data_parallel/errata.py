"""What the documents wrote about DataParallel."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E004",
        where="000:41-48, 002:111,126",
        written="nn.Dataparallel ... torch.nn.DataParallel(model, deviceids, outputdevice, dim)",
        proof=(
            "from torch import nn\n"
            "try:\n    nn.DataParallel(nn.Linear(1, 1), deviceids=[0])\nexcept TypeError as error:\n    print(error)\n"
            "nn.Dataparallel"
        ),
        happens="AttributeError: module 'torch.nn' has no attribute 'Dataparallel'",
        instead="`nn.DataParallel(module, device_ids=None, output_device=None, dim=0)`",
    ),
    Erratum(
        id="E120",
        where="000:55-56",
        written="-",
        proof="",
        happens="An empty bullet at the end of the document.",
        instead="Nothing: leave it out.",
    ),
)
