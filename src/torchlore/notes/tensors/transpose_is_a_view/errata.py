"""What the documents wrote about transpose and permute."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E009",
        where="001:82",
        written="x.tranpose(0,1)",
        proof="torch.rand(2, 3).tranpose(0, 1)",
        happens="AttributeError: 'Tensor' object has no attribute 'tranpose'",
        instead="`x.transpose(0, 1)`",
    ),
    Erratum(
        id="E090",
        where="001:82",
        written="their results are all non-contiguous",
        proof="print(torch.rand(1, 5).transpose(0, 1).is_contiguous())",
        happens="True",
        instead="Usually; not where a swapped dimension has size 1 or the order stays the same. Ask `is_contiguous()`.",
    ),
)
