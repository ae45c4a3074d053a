"""What the documents wrote about copying tensors."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E014",
        where="003:126",
        written="tensor.detach.clone()()",
        proof="torch.ones(2).detach.clone()()",
        happens="AttributeError: 'builtin_function_or_method' object has no attribute 'clone'",
        instead="`tensor.detach().clone()`",
    ),
    Erratum(
        id="E087",
        where="001:78",
        written="A = B + 0 makes a new A",
        proof="B = torch.ones(2, requires_grad=True)\nprint((B + 0).grad_fn.name())",
        happens="AddBackward0",
        instead="The memory is new, the history is not: `B.detach().clone()`, or `B.clone()` to keep the gradient.",
    ),
)
