"""What the documents wrote about adding losses up."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E093",
        where="002:34",
        written="Python0.4.0 ... indexing a scalar gives `invalid index to scalar variable`",
        proof="total = 0\nloss = torch.tensor(1.0)\ntotal += loss.data[0]",
        happens="IndexError: invalid index of a 0-dim tensor",
        instead="PyTorch 0.4.0 is meant, and the message quoted is NumPy's; write `total += loss.item()`.",
    ),
)
