"""An exact resume needs optimizer, scheduler, scaler and random states, not the weights alone.

With the weights alone Adam starts with empty moments, the schedule from its first rate, dropout and shuffling with
other numbers: the loss jumps and the run is another one. Nothing says so.

Save `model`, `optimizer`, `scheduler`, `scaler`, the RNG states and the step in one file: `collect` and `restore` of
`torchlore.recipes.checkpoint`. `lore ckpt show` lists what a file lacks.
"""

ROWS = ()
SOURCES = ("https://github.com/PolymathicAI/the_well/issues/77",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim() -> None:
    import copy

    import torch
    from torch import nn

    from torchlore.notes.proof import ailments_of

    def train(model: nn.Module, optimizer: torch.optim.Optimizer, steps: int) -> None:
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.ones(4, 3)).square().mean().backward()
            optimizer.step()

    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    train(model, optimizer, 5)
    saved = copy.deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    train(model, optimizer, 5)

    def resumed(*, moments: bool) -> torch.Tensor:
        again = nn.Linear(3, 1)
        again.load_state_dict(saved["model"])
        stepper = torch.optim.Adam(again.parameters(), 0.1)
        if moments:
            stepper.load_state_dict(saved["optimizer"])
        train(again, stepper, 5)
        return again.weight

    assert torch.equal(resumed(moments=True), model.weight)
    assert (resumed(moments=False) - model.weight).abs().max() > 0.01
    assert "no scheduler, no scaler, no rng" in ailments_of(saved)["cannot-resume"]
