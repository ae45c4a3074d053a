"""Tied weights are one storage under two names; a `.pt` file keeps that, safetensors refuses it.

`decoder.weight = encoder.weight` stores the numbers once. Loaded with `load_state_dict` into a model that ties them
itself, all is well; loaded into one that does not, the two drift apart from the first step. `safetensors` has no shared
storages and raises instead of writing the numbers twice.

`lore ckpt show` lists what is shared, and `lore ckpt convert` writes each name its own copy. Tie in the constructor, so
that loading cannot undo it.
"""

ROWS = ()
SOURCES = (
    "https://github.com/safetensors/safetensors/issues/98",
    "https://github.com/safetensors/safetensors/issues/493",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "hint"


def claim() -> None:
    import torch
    from torch import nn

    from torchlore.notes.proof import ailments_of

    class Net(nn.Module):
        def __init__(self, *, tied: bool) -> None:
            super().__init__()
            self.embed, self.head = nn.Embedding(8, 4), nn.Linear(4, 8, bias=False)
            if tied:
                self.head.weight = self.embed.weight

    state = Net(tied=True).state_dict()
    assert "embed.weight, head.weight are one storage" in ailments_of(state)["shared-storage"]
    apart, together = Net(tied=False), Net(tied=True)
    apart.load_state_dict(state)
    together.load_state_dict(state)
    assert torch.equal(apart.embed.weight, apart.head.weight)  # equal numbers, two tensors
    assert apart.embed.weight is not apart.head.weight
    assert together.embed.weight is together.head.weight
