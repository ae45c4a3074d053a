"""`"conv" or "head" in name` is always true: a text that is not empty counts as true.

`or` takes whole conditions: this reads `("conv") or ("head" in name)`, and "conv" is true by itself. Where layers are chosen by name,
for an initialisation, a learning rate, weight decay or freezing, every layer is chosen, and the other branch never runs. The
same holds for `if mode == "train" or "val":`.

`if name.find("conv"):` is a relative: `find` gives -1 where there is none, which counts as true, and 0 where the name begins with it,
which counts as false. It chooses just the wrong ones.

`losses.append(loss)` and then `if loss <= losses[-1]:` asks a number about itself.

Repeat the question: `"conv" in name or "head" in name`, or ask once, `any(part in name for part in ("conv", "head"))`.
"""

ROWS = ()
SOURCES = ("https://github.com/zylo117/Yet-Another-EfficientDet-Pytorch/issues/722",)
TORCH = "2.11, 2.15"
NEEDS = ()
SEVERITY = "error"


def claim(bad: dict[str, int], good: dict[str, int]) -> None:
    assert bad["chosen"] == 6
    assert good["chosen"] == 4
