"""After `z + (code - z).detach()` no gradient reaches the codebook: compute its loss before that line.

A vector quantiser replaces `z` by its nearest code and passes the decoder's gradient straight through to the encoder:
`quantized = z + (code - z).detach()`. In this sum the code stands behind `detach()`. A codebook loss that is computed from
`quantized`, `mse_loss(quantized, z.detach())`, has the right value and pushes the encoder instead; the codebook stays as it
was drawn, while the reconstruction still gets better.

Keep the code under its own name and use it in the loss:

```python
code = codebook(index)
loss = F.mse_loss(code, z.detach()) + beta * F.mse_loss(z, code.detach())
quantized = z + (code - z).detach()
```
"""

ROWS = ()
SOURCES = (
    "https://github.com/showlab/Olaf-World/issues/8",
    "https://github.com/EdoardoBotta/RQ-VAE-Recommender/issues/24",
)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, float], good: dict[str, float]) -> None:
    assert bad["moved"] == 0
    assert good["moved"] > 0
