"""Other spellings of version-compared-as-string, and code that only looks like it."""
import numpy as np
import torch
import torchvision
from packaging import version

if str(torch.__version__) > "1.10":  # trap: version-compared-as-string
    print("new")
if torch.__version__.split("+")[0] >= "1.9.0":  # trap: version-compared-as-string
    print("new")
if torch.__version__.split(".")[:2] < ["1", "10"]:  # trap: version-compared-as-string
    print("old")
if torchvision.__version__ < "0.13":  # trap: version-compared-as-string
    print("old")
OLD = float(".".join(torch.__version__.split(".")[:2])) < 1.8  # trap: version-compared-as-string
if "1.20" <= np.__version__:  # trap: version-compared-as-string
    print("new")

# clean
if torch.__version__ >= "2.9":
    print("it is a TorchVersion")
if torch.__version__ >= (2, 9) and version.parse(np.__version__) >= version.parse("1.20"):
    print("new")
if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 9):
    print("new")
if int(torch.__version__.split(".")[0]) >= 2:
    print("new")
if torch.__version__.startswith("1.") or torch.__version__ == "2.0.0" or "+cu" in torch.__version__:
    print("text on purpose")
print(f"torch {torch.__version__[:6]}, float {float('2.5')}")
if torchvision.__version__ < "2.1":
    print("every version that ever was stands on the right side of it")
if float(torchvision.__version__.split(".")[1]) < 7.0:
    print("one part alone is a number")
