"""What the documents wrote about linear warm-up."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E059",
        where="003:547-549",
        written="LambdaLR(optimizer, lr_lambda=lambda t: t / 10)",
        proof=(
            "optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)\n"
            "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda t: t / 10)\nused = []\n"
            "for t in range(15):\n    used.append(optimizer.param_groups[0]['lr'])\n    optimizer.step()\n"
            "    scheduler.step()\nprint(used[0], used[1], used[14])"
        ),
        happens="0.0 0.1 1.4",
        instead="`lambda t: min((t + 1) / 10, 1.0)`: from a tenth to one, and no further.",
    ),
)
