import torch.nn as nn
import torch.nn.functional as F

a = nn.MSELoss(reduce=False)  # trap: size-average-reduce
b = nn.BCELoss(size_average=True, reduce=True)  # trap: size-average-reduce
c = nn.L1Loss(reduction="elementwise_mean")  # trap: size-average-reduce
d = nn.CrossEntropyLoss(reduction="average")  # trap: size-average-reduce


def loss(x, y, flag, how, functools):
    e = F.cross_entropy(x, y, size_average=flag)  # trap: size-average-reduce
    f = F.kl_div(x, y, reduction="batchmean")
    g = F.mse_loss(x, y, reduction=how)
    h = functools.reduce(x, reduce=False, reduction="average")
    return e + f + g + h


fine = nn.CrossEntropyLoss(reduction="none"), nn.NLLLoss()
