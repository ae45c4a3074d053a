"""Save the inner model: DataParallel and DDP put `module.` before every name, torch.compile `_orig_mod.`.

A wrapper's `state_dict` names its weights through the wrapper. Loaded into the bare model, strictly, that is an error
about every key; with `strict=False` nothing matches, nothing is loaded and nothing is said. The notes advise wrapping
the new model too; that is not needed, and `DataParallel(model).module` is the model itself.

Unwrap when saving: `torch.save(model.module.state_dict(), path)`, or `unwrap(model)` of `torchlore.recipes.device`
for all three wrappers. A file that is already written is mended by
`torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")`; `lore ckpt` names the prefix.
"""

ROWS = ("ckpt-dp-prefix",)
SOURCES = ("000:46-54", "002:124-134", "003:258")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn
    from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present

    assert bad["matched"] == 0
    assert good["matched"] == 2

    model = nn.Linear(2, 2)
    wrapped = nn.DataParallel(model)
    assert wrapped.module is model
    state = wrapped.state_dict()
    assert list(state) == ["module.weight", "module.bias"]
    consume_prefix_in_state_dict_if_present(state, "module.")
    assert nn.Linear(2, 2).load_state_dict(state).missing_keys == []
    assert list(torch.compile(model).state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]  # type: ignore[attr-defined]  # a Module
