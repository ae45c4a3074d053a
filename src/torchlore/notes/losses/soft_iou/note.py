"""A soft IoU loss needs probabilities, equal shapes and one value per sample; check all three.

`1 - sum(p*t) / (sum(p^2) + sum(t^2) - sum(p*t))` equals 1 - IoU on hard masks and passes gradients on soft ones. As usually
copied it takes whatever comes. Logits instead of probabilities give a number: a perfect mask scored 10 costs 0.89. A
prediction (N, 1, H, W) against a mask (N, H, W) broadcasts to N x N pairs, flat inputs (N, P) mix the samples of a batch
into one mask, and uint8 masks of 255 overflow: none of these raises.

The recipe refuses wrong shapes and ranges, takes logits, and treats any non-zero integer as foreground:

```python
from torchlore.recipes.losses import iou_loss
loss = iou_loss(logits, masks)
```
"""

ROWS = ("loss-iou",)
SOURCES = ("001:43-53",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch

    from torchlore.notes.proof import error_of
    from torchlore.recipes.losses import iou_loss

    def literal(y_pred: torch.Tensor, y_true: torch.Tensor) -> torch.Tensor:
        eps = 1e-6
        both = (y_true * y_pred).sum((-2, -1))
        total = (y_true**2).sum((-2, -1)) + (y_pred**2).sum((-2, -1)) - both
        return 1 - ((both + eps) / (total + eps)).mean()

    a = torch.tensor([[[1.0, 1.0, 0.0, 0.0]]], device=device)
    b = torch.tensor([[[1.0, 0.0, 1.0, 0.0]]], device=device)
    assert abs(float(literal(a, b)) - (1 - 1 / 3)) < 1e-5
    assert torch.allclose(literal(a, b), iou_loss(a, b, from_logits=False))
    assert abs(float(literal(10 * a, a)) - 0.89) < 0.01  # logits of a perfect mask
    assert iou_loss(20 * a - 10, a) < 1e-3  # the recipe takes logits: 10 and -10

    masks = (torch.rand(3, 4, 4, device=device) > 0.5).float()
    wide = masks.unsqueeze(1)
    assert literal(masks, masks) < 1e-5
    assert literal(wide, masks) > 0.1  # broadcast to 3 x 3 pairs, no error
    assert error_of(lambda: iou_loss(wide, masks, from_logits=False)) == "ValueError"

    bytes_255 = masks.to(torch.uint8) * 255
    assert literal(masks, bytes_255) > 1
    assert iou_loss(masks, bytes_255, from_logits=False) < 1e-5

    scores = torch.randn(2, 1, 4, 4, device=device, requires_grad=True)
    iou_loss(scores, masks[:2].unsqueeze(1)).backward()
    assert scores.grad is not None
    assert bool((scores.grad != 0).any())
