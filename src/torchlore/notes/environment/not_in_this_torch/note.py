"""Names and keywords come and go between releases: ask the torch that is installed.

A misspelt name (`torch.cuda.is_availabel`), a function that was removed (`torch.symeig`), a keyword that is gone
(`verbose=` of the schedulers, `use_cuda=` of the profiler) raises only when its line runs, which may be after hours of
training: in the validation, at the first checkpoint, in the branch for the other device.

`lore check --torch src/` asks the installed torch and torchvision, in a process of their own, about every name and
keyword your files use, and shows the nearest name where there is one. What stands in a `try`, or behind `hasattr` or a
version test, is left alone.
"""

ROWS = ()
SOURCES = ("https://github.com/pytorch/pytorch/issues/68742",)
TORCH = "2.11, 2.15"
NEEDS = ()


def claim() -> None:
    import torch

    from torchlore.check.engine import Rule, check_text, parse
    from torchlore.check.installed import ask, rule
    from torchlore.check.source import Source

    text = (
        "import torch\n"
        "from torch.optim import lr_scheduler\n"
        "torch.cuda.is_availabel()\n"
        "lr_scheduler.ReduceLROnPlateau(opt, verbose=True)\n"
        "torch.cuda.is_available()\n"
    )
    source = parse(text, "train.py")
    assert isinstance(source, Source)
    said, versions = ask([source])
    assert torch.__version__ in versions
    found = check_text(text, {"not-in-this-torch": Rule("not-in-this-torch", rule(said, versions))})
    assert [one.line for one in found] == [3, 4]
    assert "is_available" in found[0].message
    assert "verbose" in found[1].message
