"""What the documents wrote about an L1 penalty."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E071",
        where="003:466",
        written="l1_regularization = torch.nn.L1Loss(reduction='sum')  (and never used)",
        proof="l1_regularization = torch.nn.L1Loss(reduction='sum')\nl1_regularization(torch.ones(3))",
        happens="TypeError: ",
        instead="`loss = loss + lambda_ * l1_penalty(model.parameters())` with `torchlore.recipes.losses.l1_penalty`.",
    ),
)
