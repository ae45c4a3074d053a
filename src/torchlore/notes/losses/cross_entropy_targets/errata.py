"""How the documents spelt it."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E121",
        where="001:67, 001:69",
        written="targe",
        proof="",
        happens="The word is misspelt in both lines.",
        instead="target",
    ),
)
