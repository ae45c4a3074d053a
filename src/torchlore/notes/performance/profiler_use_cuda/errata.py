"""What the documents wrote about profiling."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E038",
        where="003:679",
        written="torch.autograd.profiler.profile(enabled=True, use_cuda=False)",
        proof=(
            "import inspect\n"
            "from torch.autograd.profiler import profile\n"
            "gone = 'use_cuda' not in inspect.signature(profile.__init__).parameters\n"
            "print('gone' if gone or torch.__version__ < (2, 15) else 'there')"
        ),
        happens="gone",
        instead="`torch.profiler.profile(activities=[...])`. From 2.15 on `use_cuda` is a TypeError; before it warned.",
    ),
    Erratum(
        id="E039",
        where="003:685",
        written="python -m torch.utils.bottleneck main.py",
        proof="import torch.utils.bottleneck",
        happens="ModuleNotFoundError: No module named 'torch.utils.bottleneck'",
        instead="`torch.profiler` for operators, `cProfile` or `py-spy` for Python.",
    ),
    Erratum(
        id="E105",
        where="003:677",
        written="Time consumption of each module",
        proof=(
            "layer = torch.nn.Linear(2, 2)\n"
            "with torch.autograd.profiler.profile() as p:\n"
            "    layer(torch.ones(1, 2))\n"
            "print('Linear' in {row.key for row in p.key_averages()}, {'aten::linear'} <= {r.key for r in p.key_averages()})"
        ),
        happens="False True",
        instead="It lists operators; name a part with `torch.profiler.record_function` to see it.",
    ),
)
