"""Preprocessing belongs to the weights, and three channels must be made before Normalize.

The transforms for ImageNet that everybody copies (resize 256, crop 224, mean 0.485...) belong to the first generation
of torchvision's weights. `ResNet50_Weights.IMAGENET1K_V2` was evaluated at resize 232; feeding it the old crop costs
accuracy and says nothing. An RGBA picture stops in `Normalize`, where a mean of three meets four channels. A grey one
stops there with the old transforms; with v2 it comes out as three channels, by broadcasting. `v2.ToTensor` is
deprecated.

Ask the weights, and convert first:

```python
weights = ResNet50_Weights.IMAGENET1K_V2
val = weights.transforms()  # resize 232, crop 224, float in [0, 1], normalised
x = val(Image.open(path).convert("RGB"))
train = v2.Compose([v2.ToImage(), v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(),
                    v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)])
```
"""

ROWS = ("data-preprocess",)
SOURCES = ("003:399-416",)
TORCH = "2.11, 2.15"
NEEDS = ("torchvision",)


def claim() -> None:
    import torch
    from PIL import Image
    from torchvision import transforms as v1
    from torchvision.models import ResNet18_Weights, ResNet50_Weights
    from torchvision.transforms import v2

    assert ResNet18_Weights.IMAGENET1K_V1.transforms().resize_size == [256]
    assert ResNet50_Weights.IMAGENET1K_V2.transforms().resize_size == [232]

    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    tail = [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)]
    val = v2.Compose([v2.Resize(256), v2.CenterCrop(224), *tail])
    rgba, grey = Image.new("RGBA", (300, 260), (128, 128, 128, 255)), Image.new("L", (300, 260), 128)
    old = v1.Compose([v1.Resize(256), v1.CenterCrop(224), v1.ToTensor(), v1.Normalize(mean, std)])
    for transform, picture in ((old, rgba), (old, grey), (val, rgba)):
        try:
            transform(picture)
        except RuntimeError:
            pass
        else:
            raise AssertionError(f"Normalize took a picture of mode {picture.mode}")
        assert transform(picture.convert("RGB")).shape == (3, 224, 224)
    assert val(grey).shape == (3, 224, 224)  # broadcast, not converted
    assert torch.allclose(old(grey.convert("RGB")), val(grey.convert("RGB")), atol=1e-5)
    pixel = val(grey.convert("RGB"))[:, 0, 0]
    assert torch.allclose(pixel, (128 / 255 - torch.tensor(mean)) / torch.tensor(std), atol=1e-5)

    torch.manual_seed(0)
    train = v2.Compose([v2.RandomResizedCrop(224), v2.RandomHorizontalFlip(), *tail])
    picture = Image.linear_gradient("L").convert("RGB")
    assert not torch.equal(train(picture), train(picture))
    assert torch.equal(val(picture), val(picture))
