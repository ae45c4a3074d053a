"""What the documents' IoU loss does to what it is not made for."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E072",
        where="001:45-52",
        written="def iou_continuous_loss(y_pred, y_true): ...",
        proof="""
def iou_continuous_loss(y_pred, y_true):
    eps = 1e-6
    def _sum(x):
        return x.sum(-1).sum(-1)
    numerator = (_sum(y_true * y_pred) + eps)
    denominator = (_sum(y_true ** 2) + _sum(y_pred ** 2) - _sum(y_true * y_pred) + eps)
    return 1 - (numerator / denominator).mean()
mask = torch.ones(2, 8, 8, dtype=torch.uint8) * 255
perfect = torch.ones(2, 8, 8)
print("above 1:", bool(iou_continuous_loss(perfect, mask) > 1), "broadcasts:", iou_continuous_loss(perfect[:, None], perfect).ndim == 0)
""",
        happens="above 1: True broadcasts: True",
        instead="`torchlore.recipes.losses.iou_loss` checks shape and range and takes 0/255 masks.",
    ),
)
