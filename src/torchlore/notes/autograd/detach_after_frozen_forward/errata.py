"""What the documents wrote about detach."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E091",
        where="000:13, 002:48",
        written="The result will never require gradient.",
        proof="x = torch.ones(2, requires_grad=True)\nprint(x.detach().requires_grad_().requires_grad)",
        happens="True",
        instead="The result does not require a gradient at first; `requires_grad_()` can turn it on, as a new leaf.",
    ),
)
