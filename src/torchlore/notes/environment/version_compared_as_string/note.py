"""A version compared as text or as a float takes 2.15 for older than 2.9.

As text, `"2.15.0" < "2.9.0"`; as a float, 2.15 is less than 2.9; and `float(torch.__version__[:3])` reads 2.1 out of
2.15. The branch for new releases is then skipped on exactly those releases, without a word.

`torch.__version__` itself compares rightly, with text or a tuple: `torch.__version__ >= (2, 9)`. That ends as soon as
it is cut, split or wrapped in `str()`, and it never held for other packages: `torchvision.__version__` and `PIL.__version__` are plain text.
Give those to `packaging.version.Version`, or to `torch.torch_version.TorchVersion`, which needs no extra package.

To read what is installed: `torch.__version__`, `torch.version.cuda` (None in a build without CUDA),
`torch.backends.cudnn.version()`; `lore doctor` and `python -m torch.utils.collect_env` print them all.
"""

from typing import Any

ROWS = ("env-versions",)
SOURCES = ("003:19-21",)
TORCH = "2.11, 2.15"
NEEDS = ("PIL",)
SEVERITY = "warning"


def claim(bad: dict[str, Any], good: dict[str, Any]) -> None:
    import torch
    from torch.torch_version import TorchVersion

    assert torch.__version__ >= "2.11"
    assert good["new_enough"] == {"torch": True, "pillow": True}
    assert bad["new_enough"] == {"torch": False, "pillow": False}
    assert sorted(["2.9.0", "2.15.0"]) == ["2.15.0", "2.9.0"]  # text
    assert float("2.15") < float("2.9")
    assert TorchVersion("2.15.0") > "2.9.0"
    assert isinstance(torch.__version__, TorchVersion)
    assert type(torch.__version__[:6]) is str  # cut once, it is plain text again
    assert torch.version.cuda is None or TorchVersion(torch.version.cuda) > "9.2"
