import numpy as np
from torchvision import transforms

mean, std = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
prepare = transforms.Compose([
    transforms.ToTensor(),
    transforms.Normalize(mean, std),  # trap: normalize-for-other-pixels
])
picture = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)

result = {"spread": prepare(picture).std(dim=(1, 2)).max().item()}
