"""What the documents wrote about turning tensors and arrays into images."""

from torchlore.catalogue import Erratum

ERRATA = (
    Erratum(
        id="E013",
        where="003:103",
        written="ndarray.astypde(np.uint8)",
        proof="import numpy as np\nnp.zeros(3).astypde(np.uint8)",
        happens="AttributeError: 'numpy.ndarray' object has no attribute 'astypde'",
        instead="`astype`, after clipping, scaling and rounding.",
    ),
    Erratum(
        id="E015",
        where="003:89-93",
        written="(N, D, H, W) ... .permute(1, 2, 0)",
        proof="torch.zeros(2, 3, 4, 4).permute(1, 2, 0)",
        happens="RuntimeError: permute",
        instead="One image at a time, (D, H, W); a batch goes through `torchvision.utils.make_grid` or `save_image`.",
    ),
    Erratum(
        id="E041",
        where="003:94",
        written="to_pil_image(tensor)  # Equivalently way",
        proof=(
            "from torchvision.transforms.functional import to_pil_image\n"
            "x = torch.tensor([1.2, -0.1]).view(1, 1, 2)\n"
            "print(torch.clamp(x * 255, 0, 255).byte().flatten().tolist(), list(to_pil_image(x).tobytes()))"
        ),
        happens="[255, 0] [50, 231]",
        instead="Clamp first: `to_pil_image(tensor.clamp(0, 1))`.",
    ),
    Erratum(
        id="E043",
        where="003:103",
        written="PIL.Image.fromarray(ndarray.astype(np.uint8))",
        proof=(
            "import numpy as np\n"
            "print(np.array([0.9]).astype(np.uint8).tolist(), np.array([256, -1, 300]).astype(np.uint8).tolist())"
        ),
        happens="[0] [0, 255, 44]",
        instead="`(a.clip(0, 1) * 255).round().astype(np.uint8)` for values in [0, 1].",
    ),
)
