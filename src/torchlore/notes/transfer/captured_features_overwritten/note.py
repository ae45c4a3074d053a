"""A captured feature is overwritten by the next layer if that works in place.

Hooks, extractor classes and torchvision's `create_feature_extractor` all hand out the very tensor a layer returned. In
most of torchvision's networks a `ReLU(inplace=True)` follows and writes into it: ask for `bn1` and you get
`relu(bn1)`, without a word. The extractor class of the notes has more holes: a name that is not a direct child gives an
empty list and no error, the order you asked for is ignored, and a `.train()` of the whole undoes the `eval()` made in
`__init__`, so that batch norm drifts even under `no_grad`.

Clone what you keep (`kept[name] = output.detach().clone()`), or switch `inplace` off on every module first. Extract
under `model.eval()` and `torch.inference_mode()`: one is about layers, the other about the graph, and you need both.
`torchlore.recipes.features` does all of this, for nested names, and raises for unknown ones.
"""

ROWS = ("transfer-extractor", "transfer-eval-nograd")
SOURCES = ("003:342-344", "003:346-378")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    import torch
    from torch import nn

    assert bad["lowest"] == 0.0  # what a ReLU leaves, not what batch norm gives
    assert good["lowest"] < -1.0
    assert good["error"] == 0.0
    assert bad["error"] > 0.5

    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    x = torch.randn(8, 4)
    with torch.no_grad():
        assert not torch.equal(model(x), model(x))  # no_grad alone: dropout draws, statistics move
        assert int(model[2].num_batches_tracked) == 2
    model.eval()
    assert model(x).requires_grad  # eval alone: the graph is still built
    with torch.inference_mode():
        assert torch.equal(model(x), model(x))
        assert not model(x).requires_grad
