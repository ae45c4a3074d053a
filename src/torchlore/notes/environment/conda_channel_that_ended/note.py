"""`conda update pytorch -c pytorch` ends at torch 2.5: the channel gets no newer releases.

The command still runs and still says that everything is up to date. You stay on an old torch, or conda pairs it with
a torchvision from another channel, built for another torch or another device. Such a pair fails late and oddly:
`import torchvision` raises `operator torchvision::nms does not exist`.

Install both in one command from one place, and pin them together: `uv pip install torch torchvision` (or `pip`), with
the package index of your CUDA release if the default build does not fit; inside conda use the channel `conda-forge`.
`lore doctor` says when the two do not belong together.
"""

ROWS = ("env-update-conda",)
SOURCES = ("003:24-27", "https://github.com/pytorch/pytorch/issues/138506")
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)


def claim(device: str) -> None:
    import torch
    import torchvision

    builds = {version.partition("+")[2] for version in (str(torch.__version__), torchvision.__version__)} - {""}
    assert len(builds) <= 1, f"torch and torchvision were built for different devices: {builds}"
    assert torch.__version__ > "2.6"  # what the old channel cannot give

    boxes = torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 9], [20, 20, 30, 30]], device=device)
    kept = torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7], device=device), 0.5)  # the compiled part loads
    assert kept.tolist() == [0, 2]
