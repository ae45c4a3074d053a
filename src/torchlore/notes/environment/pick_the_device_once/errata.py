"""What the documents wrote about picking a device."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E006",
        where="001:5",
        written="torch.cuda.is_availabel()",
        proof="torch.cuda.is_availabel()",
        happens="AttributeError: module 'torch.cuda' has no attribute 'is_availabel'",
        instead="`torch.cuda.is_available()`; or `torch.accelerator.current_accelerator(check_available=True)`.",
    ),
    Erratum(
        id="E007",
        where="001:5-7",
        written=" data = data.to(device)\n  model.to(device)",
        proof="compile('device = 0\\ndata = data.to(device)\\n model.to(device)', 'note', 'exec')",
        happens="IndentationError: unexpected indent",
        instead="Start all lines of a block in the same column.",
    ),
)
