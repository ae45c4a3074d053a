"""`PoissonNLLLoss` takes the logarithm of the rate unless told otherwise: a rate is taken for one.

`log_input=True` is the default: the loss is `exp(input) - target * input`. A model that ends in `softplus`, `relu` or `exp` gives the
rate itself, and the loss treats it as a logarithm. It can be minimised all the same, so the curve falls, but what the model then
predicts is the logarithm of the rate where you read a rate: counts of 20 are predicted as 3, and counts below one cannot be
reached at all, because the activation gives no negative numbers.

Leave the activation out (the loss likes logarithms, they cannot overflow downwards), or write `nn.PoissonNLLLoss(log_input=False)`.
"""

ROWS = ()
SOURCES = ("https://pytorch.org/docs/stable/generated/torch.nn.PoissonNLLLoss.html",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert abs(bad["predicted"] - bad["mean"]) > 5
    assert abs(good["predicted"] - good["mean"]) < 1
