"""Bilinear pooling is the outer product of channels, averaged over positions and normalised.

For features of shape (N, D, H, W) it is `X @ X.T / (H*W)` with `X` flattened to (N, D, H*W): which channels fire together,
wherever they do. A signed square root and an L2 norm tame its range. `torch.reshape(N, D, H * W)` as often copied is
missing the tensor itself and raises.

```python
x = x.flatten(2)
x = torch.einsum("nds,nes->nde", x, x) / x.shape[2]
x = F.normalize((x.sign() * (x.abs() + 1e-5).sqrt()).flatten(1))
```

`torchlore.recipes.layers.bilinear_pool` does it in float32 whatever autocast says. The signed root jumps by about 0.003 on either side of zero because of its eps; the eps is needed, since the slope of the
root at zero is infinite.
"""

ROWS = ("layer-bilinear",)
SOURCES = ("003:184-192",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch.nn import functional as F

    from torchlore.notes.proof import error_of
    from torchlore.recipes.layers import bilinear_pool

    n, d, h, w = 2, 4, 3, 5
    features = torch.randn(n, d, h, w, device=device)
    assert error_of(lambda: torch.reshape(n, d, h * w)) == "TypeError"  # type: ignore[call-arg, arg-type]  # as written

    x = features.reshape(n, d, h * w)
    product = torch.bmm(x, x.transpose(1, 2)) / (h * w)
    assert torch.allclose(product, torch.einsum("nds,nes->nde", x, x) / (h * w), atol=1e-5)
    by_hand = sum(torch.outer(x[0, :, i], x[0, :, i]) for i in range(h * w)) / (h * w)
    assert torch.allclose(product[0], torch.as_tensor(by_hand), atol=1e-5)

    def signed_root(t: torch.Tensor) -> torch.Tensor:
        return t.sign() * (t.abs() + 1e-5).sqrt()

    pooled = F.normalize(signed_root(product).flatten(1))
    assert pooled.shape == (n, d * d)
    assert torch.allclose(product.flatten(1), bilinear_pool(features, normalize=False), atol=1e-5)
    assert torch.allclose(pooled, bilinear_pool(features), atol=5e-3)  # near 0 the recipe's root goes through 0
    assert torch.allclose(pooled.norm(dim=1), torch.ones(n, device=device), atol=1e-5)
    assert abs(float(signed_root(torch.tensor(1e-12))) - 0.00316) < 1e-5
