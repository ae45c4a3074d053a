import io

from PIL import Image
from torchvision.transforms.functional import to_tensor

files = []
for mode in ("RGB", "L", "RGBA", "P"):
    files.append(io.BytesIO())
    Image.new("RGB", (8, 8), "white").convert(mode, palette=Image.Palette.ADAPTIVE).save(files[-1], "PNG")

shapes, white = [], []
for file in files:
    image = to_tensor(Image.open(file))  # trap: image-not-converted-to-rgb
    shapes.append(tuple(image.shape))
    white.append(image[0, 0, 0].item())

result = {"shapes": shapes, "white": white}
