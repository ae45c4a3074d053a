"""Importing torch gives you torch.nn, but not the bare names nn and F that most snippets use.

A list of imports that stops at `torch`, `torchvision`, `numpy` and `PIL.Image` looks complete, yet the first
`nn.Linear` copied from elsewhere ends in `NameError: name 'nn' is not defined`. The same goes for `F`, for `csv` and
for whatever draws the curves. A name is only missed on the line that uses it, which may be hours into a run.

Write the two aliases that everybody assumes, and let a linter find the rest before the run does (`ruff check --select
F821` names every undefined one):

```python
import torch
import torch.nn.functional as F
from torch import nn
```
"""

ROWS = ("env-imports",)
SOURCES = ("003:5-16",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision", "PIL", "tqdm")


def claim() -> None:
    from torchlore.notes.proof import error_of

    listed = (
        "import collections, os, shutil, tqdm\nimport numpy as np\nimport PIL.Image\nimport torch\nimport torchvision"
    )
    aliases = "import torch.nn.functional as F\nfrom torch import nn"
    use = "out = F.relu(nn.Linear(4, 2)(torch.ones(3, 4))).shape"

    def run(*parts: str) -> object:
        space: dict[str, object] = {}
        exec("\n".join(parts), space)  # noqa: S102 - the snippets above
        return space["out"]

    assert error_of(lambda: run(listed, use)) == "NameError"
    assert run(listed, aliases, use) == (3, 2)
