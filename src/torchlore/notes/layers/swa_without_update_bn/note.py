"""An average of weights needs its own batch norm statistics: call `update_bn` before it is evaluated.

`AveragedModel` averages the parameters of several epochs and copies the running means and variances of the last one. They were
measured behind other weights: the averaged layers give other activations, and batch norm moves and scales them with numbers that
do not fit. The average, which should be better than every single epoch, is worse than the last.

Let it see the training data once, in training mode and without gradients, after the last `update_parameters`:

```python
torch.optim.swa_utils.update_bn(train_loader, swa_model)
evaluate(swa_model, val_loader)
```

A moving average that is updated in every step (`multi_avg_fn=get_ema_multi_avg_fn(0.999)`) stays near the network, and its
buffers fit.
"""

ROWS = ()
SOURCES = ("https://docs.pytorch.org/docs/stable/optim.html#taking-care-of-batch-normalization",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert good["error"] < 0.01
    assert bad["error"] > 10 * good["error"]
