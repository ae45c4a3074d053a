import torch.nn as nn
import torch.nn.functional as F

default = nn.KLDivLoss()  # trap: kl-div-mean
asked = nn.KLDivLoss(reduction="mean", log_target=True)  # trap: kl-div-mean
right = nn.KLDivLoss(reduction="batchmean")
unused = nn.KLDivLoss()


def losses(log_q, p, log_p, options):
    a = default(log_q, p) + asked(log_q, log_p) + right(log_q, p)
    b = F.kl_div(log_q, log_p, log_target=True)  # trap: kl-div-mean
    c = F.kl_div(log_q, p, reduction="none").sum(1).mean()
    d = F.kl_div(log_q, p, reduction="sum") / len(p)
    e = F.kl_div(log_q, p, **options)
    return a + b + c + d + e
