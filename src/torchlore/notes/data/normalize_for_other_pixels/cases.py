import torchvision.transforms as T
from torchvision.transforms import v2

MEAN = (123.675, 116.28, 103.53)
prepare = T.Compose([T.Resize(8), T.ToTensor(), T.RandomErasing(), T.Normalize(mean=MEAN, std=(58.0, 57.0, 57.0))])  # trap: normalize-for-other-pixels

bytes_again = T.Compose([T.ToTensor(), T.Lambda(lambda x: x * 255), T.Normalize(MEAN, (58.0, 57.0, 57.0))])
plain = T.Compose([T.ToTensor(), T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
other = v2.Compose([v2.PILToTensor(), v2.Normalize(MEAN, (58.0, 57.0, 57.0))])
grey = T.Compose([T.ToTensor(), T.Normalize((0.1307,), (0.3081,))])
