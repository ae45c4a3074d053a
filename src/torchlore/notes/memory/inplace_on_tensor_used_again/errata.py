"""What the documents wrote about in-place operations."""

from torchlore.catalogue import Erratum

_PROOF = """
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

def kept(inplace):
    model = nn.Sequential(*(m for _ in range(4) for m in (nn.Conv2d(3, 3, 3, padding=1), nn.ReLU(inplace))))
    seen = {}
    def pack(t):
        seen[t.untyped_storage().data_ptr()] = t
        return t
    with saved_tensors_hooks(pack, lambda t: t):
        model(torch.rand(1, 3, 16, 16))
    return sum(t.untyped_storage().nbytes() for t in seen.values())

print(kept(True) == kept(False))
"""

ERRATA = (
    Erratum(
        id="E104",
        where="003:671",
        written="inplace save gpu",
        proof=_PROOF,
        happens="True",
        instead="Backward keeps the same bytes with and without; leave it off and use checkpointing or autocast.",
    ),
)
