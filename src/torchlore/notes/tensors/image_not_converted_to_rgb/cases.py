"""Other spellings of image-not-converted-to-rgb, and code that only looks like it."""
import PIL.Image
import torchvision.transforms.functional as TF
from PIL import Image
from torchvision import transforms
from torchvision.transforms import v2


def load(path):
    image = Image.open(path)  # trap: image-not-converted-to-rgb
    return TF.to_tensor(image)


def load_closing(path):
    with PIL.Image.open(path) as file:  # trap: image-not-converted-to-rgb
        return v2.functional.pil_to_tensor(file)


class Photos:
    def __init__(self):
        self.to_tensor = transforms.ToTensor()

    def read(self, path):
        return self.to_tensor(Image.open(path))  # trap: image-not-converted-to-rgb


# clean
def fine(path, transform):
    a = TF.to_tensor(Image.open(path).convert("RGB"))
    b = Image.open(path)
    b = b.convert("L")
    mask = TF.pil_to_tensor(Image.open(path / "mask.png"))
    c = Image.open(path)
    if c.mode != "RGB":
        raise ValueError(c.mode)
    size = Image.open(path).size
    return a, TF.to_tensor(b), mask, TF.to_tensor(c), size, transform(Image.open(path))
