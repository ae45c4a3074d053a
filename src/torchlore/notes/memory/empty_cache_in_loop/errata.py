"""What the documents wrote about the CUDA cache."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E098",
        where="003:49",
        written="Empty cuda cache manually (sometimes not released after Ctrl+C)",
        proof="print(torch.cuda.empty_cache())",
        happens="None",
        instead="It gives back the cache of the process that calls it and no other: end the process that holds the memory.",
    ),
)
