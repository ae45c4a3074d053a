from functools import partial

import torch.nn as nn

MOMENTUM = 0.997
RIGHT = 0.003
a = nn.BatchNorm2d(8, 1e-3, 0.9)  # trap: batchnorm-momentum-from-keras
b = nn.BatchNorm1d(8, momentum=MOMENTUM)  # trap: batchnorm-momentum-from-keras
norm = partial(nn.BatchNorm2d, eps=1e-3, momentum=0.99)  # trap: batchnorm-momentum-from-keras
c = nn.BatchNorm2d(8, momentum=0.01)
d = nn.BatchNorm2d(8, momentum=None)
e = nn.BatchNorm2d(8, momentum=RIGHT)
f = nn.BatchNorm2d(8, momentum=1.0)  # the last batch alone, and says so
g = nn.BatchNorm2d(8)


def build(momentum, keras):
    return nn.BatchNorm2d(8, momentum=momentum), keras.BatchNormalization(momentum=0.99)


tasks = nn.BatchNorm1d(8, momentum=0.999, track_running_stats=False)
single = nn.InstanceNorm2d(8, momentum=0.9)
kept = nn.InstanceNorm2d(8, momentum=0.9, track_running_stats=True)  # trap: batchnorm-momentum-from-keras
