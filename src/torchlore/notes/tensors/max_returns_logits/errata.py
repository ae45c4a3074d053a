"""What the documents wrote about torch.max."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E078",
        where="001:23",
        written="max returns [max_probability, index]",
        proof="print(torch.max(torch.tensor([[3.0, 9.0]]), 1).values.item())",
        happens="9.0",
        instead="It returns the largest values and their indices; the values are probabilities only after a softmax.",
    ),
)
