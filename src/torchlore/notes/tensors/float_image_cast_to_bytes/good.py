import numpy as np
import torch

from torchlore.recipes.tensors import to_pil

picture = torch.rand(64, 64, 3).sigmoid()
picture = (picture - picture.min()) / (picture.max() - picture.min())
image = to_pil(picture.permute(2, 0, 1))

pixels = np.asarray(image)
result = {"levels": len(np.unique(pixels)), "top": int(pixels.max())}
