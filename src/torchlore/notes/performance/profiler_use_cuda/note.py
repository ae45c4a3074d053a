"""The profiler's use_cuda is gone, torch.utils.bottleneck is gone, and neither timed modules.

`torch.autograd.profiler.profile(use_cuda=False)` raises `TypeError` since 2.15 and warned before. `python -m
torch.utils.bottleneck` ends in "No module named". What the profiler reports are operators, `aten::linear`,
`aten::addmm`: your modules do not appear in its table unless you name them.

Name the parts you care about with `record_function` and choose what is recorded with `activities`:

```python
from torch.profiler import ProfilerActivity, profile, record_function

with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
    with record_function("backbone"):
        features = backbone(x)
print(p.key_averages().table(sort_by="cuda_time_total"))
```

Time and memory of every module, forward and backward: `torchlore.recipes.profile.profile_modules(model, x)`. For
Python's own share use `cProfile` or `py-spy`. A first step is always slow: warm up before you record.
"""

import ast
from collections.abc import Iterator
from typing import Any

from torchlore.check import edits, tree
from torchlore.check.source import Hit, Source

ROWS = ("perf-profiler", "perf-bottleneck")
SOURCES = ("003:677-682", "003:683-685", "https://github.com/pytorch/pytorch/issues/68742")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import importlib.util

    import torch
    from torch import nn

    from torchlore.recipes.profile import profile_modules

    assert torch.__version__ < "2.15" or (bad["error"], bad["rows"]) == ("TypeError", [])
    assert "backbone" in good["rows"]
    assert "aten::linear" in good["rows"]
    assert good["error"] == ""
    costs = profile_modules(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.rand(2, 4), repeat=1, warmup=0)
    assert [row.name for row in costs.rows] == ["", "0", "1"]  # modules, by name
    assert torch.__version__ < "2.15" or importlib.util.find_spec("torch.utils.bottleneck") is None


WORDS = ("use_cuda|bottleneck",)


def find(source: Source) -> Iterator[Hit]:
    for call in source.calls("torch.autograd.profiler.profile", "torch.profiler.profile"):
        gone = tree.keyword(call, "use_cuda")
        old = any(
            "profiler" in source.code(test) or "version" in source.code(test)
            for test, _ in tree.conditions(source, call)
        )
        if gone is not None and not old:  # the branch for another torch
            edit = edits.remove_argument(source, call, gone.value)
            message = (
                "`use_cuda` was removed from the profiler and raises a TypeError: "
                "choose with `activities=` of `torch.profiler.profile`"
            )
            yield source.hit(call, message, edit, safe=tree.literal(gone.value) is False)
    imports: list[ast.Import | ast.ImportFrom] = [*source.all(ast.Import), *source.all(ast.ImportFrom)]
    for node in imports if "bottleneck" in source.text else ():
        module = getattr(node, "module", None) or ""
        names = [f"{module}.{alias.name}".lstrip(".") for alias in node.names]
        if any(f"{name}.".startswith("torch.utils.bottleneck.") for name in names):
            yield source.hit(node, "torch.utils.bottleneck was removed: use `torch.profiler` and `cProfile`")
