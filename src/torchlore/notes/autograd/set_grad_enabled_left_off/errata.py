"""What the documents wrote about set_grad_enabled."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E074",
        where="004:25-28",
        written=">>> torch.set_grad_enabled(False)  (the last lines of the transcript)",
        proof="torch.set_grad_enabled(False)\nx = torch.zeros(1, requires_grad=True)\ny = x * 2\nprint(torch.is_grad_enabled())",
        happens="False",
        instead="`with torch.set_grad_enabled(False):` ends where its block ends.",
    ),
)
