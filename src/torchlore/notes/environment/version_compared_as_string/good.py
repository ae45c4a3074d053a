import PIL
import torch
from torch.torch_version import TorchVersion

torch_ok = torch.__version__ >= (2, 9)
pillow_ok = TorchVersion(PIL.__version__) >= "9.1"

result = {"new_enough": {"torch": torch_ok, "pillow": pillow_ok}}
