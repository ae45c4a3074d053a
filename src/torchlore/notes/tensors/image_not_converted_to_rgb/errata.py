"""What the documents wrote about turning an image into a tensor."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E042",
        where="003:98",
        written="to_tensor(PIL.Image.open(path))  # Equivalently way",
        proof=(
            "import numpy as np, PIL.Image\n"
            "from torchvision.transforms.functional import to_tensor\n"
            "image = PIL.Image.new('P', (5, 6))\n"
            "print(tuple(to_tensor(image).shape))\n"
            "torch.from_numpy(np.array(image)).permute(2, 0, 1)"
        ),
        happens="RuntimeError: permute",
        instead="The two agree for 8-bit RGB only: `.convert('RGB')` first, then either.",
    ),
)
