"""What the documents wrote about the training loop."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E029",
        where="003:419, 003:505",
        written="for t in epoch(80):",
        proof="for t in epoch(80):\n    pass",
        happens="NameError: name 'epoch' is not defined",
        instead="`for t in range(80):`",
    ),
)
