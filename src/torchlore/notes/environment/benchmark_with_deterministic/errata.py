"""What the documents wrote about cuDNN's two flags."""

from torchlore.catalogue import Erratum

BOTH = "b = torch.backends.cudnn\nb.benchmark = True\nb.deterministic = True\nprint(b.benchmark, b.deterministic)"

ERRATA = (
    Erratum(
        id="E097",
        where="003:44",
        written="cuDNN benchmark mode (faster but with randomness)",
        proof=BOTH,
        happens="True True",
        instead="The label fits `benchmark = True` alone; with `deterministic = True` beside it the search is narrowed.",
    ),
    Erratum(
        id="E109",
        where="003:46 and 003:47",
        written="benchmark = True, then deterministic = True",
        proof=BOTH,
        happens="True True",
        instead="One or the other: benchmark for speed, or benchmark off and deterministic algorithms for repeatability.",
    ),
)
