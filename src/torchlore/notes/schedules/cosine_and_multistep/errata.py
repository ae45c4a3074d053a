"""What the documents wrote about the order of the two steps."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E060",
        where="003:542-544",
        written="for t in range(0, 80): scheduler.step(); train(...); val(...)",
        proof=(
            "import warnings\nwarnings.simplefilter('ignore')\n"
            "optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)\n"
            "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=80)\nused = []\n"
            "for t in range(80):\n    scheduler.step()\n    used.append(optimizer.param_groups[0]['lr'])\n"
            "    optimizer.step()\nprint([round(lr, 4) for lr in (used[0], used[-1])])"
        ),
        happens="[0.9996, 0.0]",
        instead="`train(...)` first, `scheduler.step()` at the end of the epoch: from 1.0 to 0.0004.",
    ),
)
