"""Other spellings of float-image-cast-to-bytes, and code that only looks like it."""
import numpy as np
import torch
from PIL import Image


def save(logits, photo, path):
    probability = torch.sigmoid(logits)
    Image.fromarray(probability.cpu().numpy().astype("uint8")).save(path)  # trap: float-image-cast-to-bytes
    scaled = np.asarray(photo) / 255.0
    Image.fromarray(scaled.astype(np.uint8)).save(path)  # trap: float-image-cast-to-bytes
    fake = logits.clamp(0, 1).permute(1, 2, 0)
    return fake.byte(), torch.rand(3, 4, 4).to(torch.uint8)  # trap: float-image-cast-to-bytes


# clean
def fine(logits, photo, labels):
    probability = torch.sigmoid(logits)
    mask = (probability > 0.5).byte()
    rounded = probability.round().byte()
    image = (probability * 255).round().byte()
    image = (probability.clamp(0, 1) * 255).to(torch.uint8)
    wide = (np.asarray(photo) / 255 * 255).astype(np.uint8)
    ids = labels.astype(np.uint8)
    return mask, rounded, image, wide, ids, logits.byte()


class Painter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.Sigmoid())

    def forward(self, z):
        return self.net(z)

    def save(self, z):
        for k, image in enumerate(self(z)):
            array = image.view(2, 2, 3).cpu().numpy()
            Image.fromarray(array.astype(np.uint8)).save(f"{k}.png")  # trap: float-image-cast-to-bytes
            Image.fromarray((array * 255).astype(np.uint8)).save(f"{k}.png")
