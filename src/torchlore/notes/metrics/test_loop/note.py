"""A test loop needs eval mode, no gradients, and a sampler that repeats nothing.

Without `model.eval()` dropout draws and batch norm normalises with the test batch and learns from it: the model is a
different one after the test. Without `torch.inference_mode()` every forward keeps its graph. One of the five documents
extracts features under both and tests under neither; it is right the first time.

Under several processes `DistributedSampler` pads: 5 samples on 2 ranks become 6, one of them counted twice. Evaluate
with a sampler that drops nothing and repeats nothing, or with torchmetrics and its synchronisation on whole data.

```python
model.eval()
with torch.inference_mode():
    for images, labels in loader:
        matrix.update(model(images.to(device)), labels.to(device))
```
"""

ROWS = ("metrics-test-loop",)
SOURCES = ("003:595-618",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim(device: str) -> None:
    import torch
    from torch import nn
    from torch.utils.data import TensorDataset
    from torch.utils.data.distributed import DistributedSampler

    from torchlore.recipes.metrics import ConfusionMatrix

    torch.manual_seed(0)
    norm = nn.BatchNorm1d(4)
    model = nn.Sequential(nn.Linear(4, 4), norm, nn.Dropout(0.5)).to(device)
    batches = torch.randn(3, 8, 4, device=device)

    def test() -> list[torch.Tensor]:
        return [model(batch) for batch in batches]

    scores = test()
    assert int(norm.num_batches_tracked or 0) == 3  # the test trained the statistics
    assert all(score.requires_grad for score in scores)
    assert not torch.equal(scores[0], test()[0])

    model.eval()
    with torch.inference_mode():
        scores = test()
        assert torch.equal(scores[0], test()[0])
    assert not any(score.requires_grad for score in scores)
    assert int(norm.num_batches_tracked or 0) == 6
    counted = ConfusionMatrix(4, device=device)  # filled batch by batch, nothing collected
    for score in scores:
        counted.update(score, score.argmax(1))
    assert int(counted.compute().diagonal().sum()) == 24

    data = TensorDataset(torch.arange(5))
    ranks: list[list[int]] = [
        list(DistributedSampler(data, num_replicas=2, rank=rank, shuffle=False)) for rank in range(2)
    ]
    assert sorted(ranks[0] + ranks[1]) == [0, 0, 1, 2, 3, 4]  # one sample twice
