"""What the documents wrote about moving tensors and modules."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E003",
        where="000:7",
        written="nn.Tensor:",
        proof="torch.nn.Tensor",
        happens="AttributeError: module 'torch.nn' has no attribute 'Tensor'",
        instead="`torch.Tensor`: tensors live in `torch`, modules in `torch.nn`.",
    ),
    Erratum(
        id="E010",
        where="002:8-9",
        written=" model = model.cuda()\n    model.cuda()",
        proof="compile('model = model.cuda()\\n    model.cuda()', 'note', 'exec')",
        happens="IndentationError: unexpected indent",
        instead="Start both lines in the same column; either of them alone moves the module.",
    ),
)
