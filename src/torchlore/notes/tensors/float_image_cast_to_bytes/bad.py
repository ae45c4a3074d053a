import numpy as np
import torch
from PIL import Image

picture = torch.rand(64, 64, 3).sigmoid()
picture = (picture - picture.min()) / (picture.max() - picture.min())
image = Image.fromarray(picture.numpy().astype(np.uint8))  # trap: float-image-cast-to-bytes

pixels = np.asarray(image)
result = {"levels": len(np.unique(pixels)), "top": int(pixels.max())}
