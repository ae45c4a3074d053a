import numpy as np
import torch
from PIL import Image

picture = torch.rand(64, 64, 3).sigmoid()
picture = (picture - picture.min()) / (picture.max() - picture.min())
image = Image.fromarray((picture.clamp(0, 1) * 255).round().byte().numpy())

pixels = np.asarray(image)
result = {"levels": len(np.unique(pixels)), "top": int(pixels.max())}
