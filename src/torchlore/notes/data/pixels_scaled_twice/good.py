import numpy as np
from torch.utils.data import DataLoader
from torchvision import transforms

to_tensor = transforms.ToTensor()
picture = np.full((4, 4, 3), 255, dtype=np.uint8)
x = to_tensor(picture)
batch = next(iter(DataLoader([x], batch_size=1)))
result = {"brightest": round(batch.max().item(), 6)}
