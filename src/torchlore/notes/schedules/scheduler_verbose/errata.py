"""What the documents wrote about a scheduler's keyword."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E033",
        where="003:533",
        written="ReduceLROnPlateau(optimizer, mode='max', patience=5, verbose=True)",
        proof=(
            "optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)\n"
            "torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode='max', patience=5, verbose=True)"
        ),
        happens="TypeError",
        instead="Drop `verbose`; print `scheduler.get_last_lr()`.",
    ),
)
