"""What the documents wrote about distances."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E044",
        where="003:170",
        written="torch.sqrt(torch.sum((X1[:,None,:] - X2) ** 2, dim=2))",
        proof=(
            "X = torch.ones(3, 2, requires_grad=True)\n"
            "torch.sqrt(torch.sum((X[:,None,:] - X) ** 2, dim=2)).sum().backward()\n"
            "print(X.grad.isnan().any().item())"
        ),
        happens="True",
        instead="`torch.cdist(X1, X2)`, whose gradient at distance 0 is 0.",
    ),
)
