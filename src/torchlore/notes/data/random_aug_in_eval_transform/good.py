import torch
from torchvision.transforms import v2

val_transform = v2.Compose(
    [
        v2.Resize(40),
        v2.CenterCrop(32),
        v2.ToDtype(torch.float32, scale=True),
    ]
)
picture = torch.arange(3 * 48 * 48, dtype=torch.int64).remainder(256).to(torch.uint8).view(3, 48, 48)
views = [val_transform(picture) for _ in range(10)]
result = {"repeats": all(torch.equal(view, views[0]) for view in views)}
