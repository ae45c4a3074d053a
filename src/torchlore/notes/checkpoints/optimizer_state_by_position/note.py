"""An optimizer's state is matched by position: reordered parameters get each other's momenta.

`optimizer.state_dict()` numbers the parameters 0, 1, 2 in the order of the groups; it knows no names. Load it after the
model's layers were reordered, or the groups built in another way, and every buffer lands where its number says.
The number of parameters is checked, shapes are not: a momentum buffer of another shape loads without a word and fails
at the next step, and one of the same shape never fails.

Pass names, `SGD(model.named_parameters(), ...)`: they are kept in the state, and you can compare them before loading.
`torchlore.recipes.optim.load_optimizer` matches by them and checks shapes; so does
`torch.distributed.checkpoint.state_dict.get_state_dict`, whose keys are names.
"""

ROWS = ("ckpt-resume",)
SOURCES = ("003:568-578",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import torch
    from torch import nn

    from torchlore.recipes.optim import load_optimizer

    first = nn.Linear(3, 3, bias=False)
    model = nn.ModuleDict({"a": first, "b": nn.Linear(3, 3, bias=False)})
    forward = torch.optim.SGD(model.named_parameters(), lr=0.1, momentum=0.9)
    for number, weight in enumerate(model.parameters(), start=1):
        weight.grad = torch.full_like(weight, float(number))
    forward.step()
    assert float(forward.state[first.weight]["momentum_buffer"][0, 0]) == 1.0

    def turn() -> torch.optim.SGD:
        return torch.optim.SGD(list(model.named_parameters())[::-1], lr=0.1, momentum=0.9)

    turned = turn()
    turned.load_state_dict(forward.state_dict())
    assert float(turned.state[first.weight]["momentum_buffer"][0, 0]) == 2.0  # b's momentum

    turned = turn()
    load_optimizer(turned, forward.state_dict())
    assert float(turned.state[first.weight]["momentum_buffer"][0, 0]) == 1.0

    wide = nn.Linear(5, 7, bias=False)
    other = torch.optim.SGD([*wide.parameters(), first.weight], lr=0.1, momentum=0.9)
    other.load_state_dict(forward.state_dict())
    assert other.state[wide.weight]["momentum_buffer"].shape == (3, 3)  # for a weight of 7 x 5
