"""What the documents wrote about data on several GPUs."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E095",
        where="002:120",
        written="call .cuda() on the data, to put it into the same cuda stream",
        proof=(
            "x, layer = torch.zeros(1, 2, device='meta'), torch.nn.Linear(2, 2)\n"
            "try:\n    layer(x)\nexcept RuntimeError as error:\n    print('device' in str(error), 'stream' in str(error))"
        ),
        happens="True False",
        instead="It is about devices; streams are something else. Create tensors with `device=x.device`.",
    ),
)
