import torch
import torch.nn as nn
import torch.nn.functional as F

criterion = nn.KLDivLoss(reduction="batchmean")
student = nn.Linear(4, 3)


def bad(x, teacher_logits, T):
    p = F.softmax(teacher_logits / T, dim=1)
    a = criterion(torch.softmax(student(x) / T, 1), p)  # trap: kl-div-on-probabilities
    b = F.kl_div(student(x), p, reduction="batchmean")  # trap: kl-div-on-probabilities
    log_p = F.log_softmax(teacher_logits, 1)
    c = F.kl_div(F.log_softmax(student(x), 1), log_p, reduction="sum")  # trap: kl-div-on-probabilities
    return a + b + c


def fine(x, teacher_logits, log_q, p):
    a = criterion(F.log_softmax(student(x), dim=1), F.softmax(teacher_logits, dim=1))
    b = F.kl_div(log_q, p, reduction="batchmean")
    c = F.kl_div(F.log_softmax(student(x), 1), F.log_softmax(teacher_logits, 1), reduction="sum", log_target=True)
    d = F.kl_div(input=F.log_softmax(student(x), 1), target=p, reduction="none")
    return a + b + c + d.mean()
