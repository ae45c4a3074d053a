"""What the documents wrote about what a checkpoint holds."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E061",
        where="003:557-562",
        written="checkpoint = {'best_acc': ..., 'epoch': ..., 'model': ..., 'optimizer': ...}",
        proof=(
            "def build():\n    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)\n"
            "    return optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)\n"
            "optimizer, scheduler = build()\n"
            "for t in range(6):\n    optimizer.step()\n    scheduler.step()\n"
            "fresh, again = build()\nfresh.load_state_dict(optimizer.state_dict())\n"
            "for o, s in ((optimizer, scheduler), (fresh, again)):\n    o.step()\n    s.step()\n"
            "print([round(o.param_groups[0]['lr'], 3) for o in (optimizer, fresh)])"
        ),
        happens="[0.206, 0.337]",
        instead="Save `scheduler.state_dict()` too, and load it.",
    ),
)
