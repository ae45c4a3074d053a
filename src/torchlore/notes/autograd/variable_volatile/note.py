"""`volatile=True` does nothing any more: the graph is built and memory is spent.

Before torch 0.4 a tensor was wrapped in `Variable`, and `volatile=True` switched recording off. Today `Variable(x)`
returns the tensor itself, and `volatile` is ignored with a warning that few people read. Inference code copied from
those days keeps every activation and runs out of memory on inputs that would fit.

Drop `Variable` and say what is meant:

```python
with torch.no_grad():
    scores = model(images)
```
"""

ROWS = ("autograd-variable",)
SOURCES = ("001:12", "001:27", "002:34", "https://github.com/pytorch/pytorch/issues/4932")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, bool], good: dict[str, bool]) -> None:
    import torch
    from torch.autograd import Variable

    assert bad["recorded"]
    assert not good["recorded"]
    x = torch.ones(2)
    assert type(Variable(x)) is torch.Tensor
    assert Variable(x).data_ptr() == x.data_ptr()
