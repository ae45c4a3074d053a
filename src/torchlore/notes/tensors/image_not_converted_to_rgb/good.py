import io

from PIL import Image

from torchlore.recipes.tensors import from_pil

files = []
for mode in ("RGB", "L", "RGBA", "P"):
    files.append(io.BytesIO())
    Image.new("RGB", (8, 8), "white").convert(mode, palette=Image.Palette.ADAPTIVE).save(files[-1], "PNG")

shapes, white = [], []
for file in files:
    image = from_pil(Image.open(file))
    shapes.append(tuple(image.shape))
    white.append(image[0, 0, 0].item())

result = {"shapes": shapes, "white": white}
