import PIL
import torch

torch_ok = float(torch.__version__[:3]) >= 2.9  # trap: version-compared-as-string
pillow_ok = PIL.__version__ >= "9.1"  # trap: version-compared-as-string

result = {"new_enough": {"torch": torch_ok, "pillow": pillow_ok}}
