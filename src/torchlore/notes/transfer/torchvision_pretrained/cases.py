import timm
import torchvision
from torchvision import models
from torchvision.models import vgg16
from torchvision.models.detection import fasterrcnn_resnet50_fpn


def build(arch, flag):
    a = torchvision.models.resnet50(pretrained=True)  # trap: torchvision-pretrained
    b = vgg16(pretrained=flag)  # trap: torchvision-pretrained
    c = models.__dict__[arch](pretrained=True)  # trap: torchvision-pretrained
    d = getattr(models, arch)(pretrained=False)  # trap: torchvision-pretrained
    e = fasterrcnn_resnet50_fpn(pretrained=True)  # trap: torchvision-pretrained
    f = models.resnet18(progress=False, pretrained=True)  # trap: torchvision-pretrained
    return a, b, c, d, e, f


def clean(arch, my_models):
    a = timm.create_model(arch, pretrained=True)
    b = my_models.resnet18(pretrained=True)
    c = models.resnet18(weights="DEFAULT")
    d = models.get_model(arch, weights=None)
    return a, b, c, d, dict(pretrained=True)
