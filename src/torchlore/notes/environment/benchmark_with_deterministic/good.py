import warnings

import torch

from torchlore.recipes.seed import set_deterministic

with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    set_deterministic()

try:
    torch.zeros(4).put_(torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
    strict = False
except RuntimeError:
    strict = True
result = {
    "warned": len(seen),
    "searches": torch.backends.cudnn.benchmark,
    "restricted": torch.backends.cudnn.deterministic,
    "strict": strict,
}
