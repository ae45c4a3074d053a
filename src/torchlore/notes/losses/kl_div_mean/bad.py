import warnings

import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
student, teacher = torch.randn(16, 100), torch.randn(16, 100)
log_q, p = F.log_softmax(student, dim=1), F.softmax(teacher, dim=1)

loss = F.kl_div(log_q, p)  # trap: kl-div-mean

by_formula = (p * (F.log_softmax(teacher, dim=1) - log_q)).sum(1).mean()
result = {"loss": loss.item(), "by_formula": by_formula.item()}
