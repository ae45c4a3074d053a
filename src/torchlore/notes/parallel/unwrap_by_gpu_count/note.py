"""Whether a model is wrapped does not follow from the number of GPUs: look at the model.

The notes return `self.model` if there is one GPU and `self.model.module` otherwise. With no GPU, which is "otherwise",
that is an AttributeError; with one GPU and a wrapper all the same, every saved name keeps its `module.` prefix.

Ask the object: `model.module if isinstance(model, (DataParallel, DistributedDataParallel)) else model`. torch.compile
hides the model behind `_orig_mod` instead; `torchlore.recipes.device.unwrap` knows all of them, nested too.
"""

ROWS = ("parallel-get-model",)
SOURCES = ("000:46-54", "002:124-134")
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "warning"


def claim(bad: dict[str, object], good: dict[str, object]) -> None:
    import torch
    from torch import nn

    from torchlore.recipes.device import unwrap

    assert bad["bare"] == "AttributeError"
    assert bad["wrapped"] == "DataParallel"
    assert good["bare"] == good["wrapped"] == "Linear"
    model = nn.Linear(2, 2)
    assert unwrap(nn.DataParallel(torch.compile(model))) is model  # type: ignore[arg-type]  # compile returns a Module
