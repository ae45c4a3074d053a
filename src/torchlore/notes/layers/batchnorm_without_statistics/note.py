"""A batch-norm layer that never saw a batch in training mode evaluates with mean 0 and variance 1.

The running statistics are no parameters: averaging or copying `parameters()` leaves them at their first values. So the SWA
or EMA copy of a network, a network whose buffers were not in the checkpoint, and one that was trained in eval mode all
normalise with mean 0 and variance 1. The weights are right, and the answers are not.

Copy the buffers with the weights (`AveragedModel(model, use_buffers=True)`, or copy every tensor of `state_dict()`), or let
the network see the training data once: `torch.optim.swa_utils.update_bn(loader, model)`.
"""

ROWS = ()
SOURCES = ("https://github.com/mosaicml/composer/issues/624", "https://github.com/boschresearch/OASIS/issues/21")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["tracked"] == 0
    assert good["tracked"] > 0
    assert bad["error"] > 5 * good["error"]
