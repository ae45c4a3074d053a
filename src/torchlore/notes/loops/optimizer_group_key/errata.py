"""What the documents wrote about an optimizer's groups."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E030",
        where="003:476-477",
        written="parameters = [{'parameters': bias_list, 'weight_decay': 0}, ...]",
        proof=(
            "model = torch.nn.Linear(2, 2)\n"
            "torch.optim.SGD([{'parameters': model.parameters(), 'weight_decay': 0}], lr=1e-2)"
        ),
        happens="KeyError: 'params'",
        instead="`{'params': bias_list, 'weight_decay': 0}`",
    ),
)
