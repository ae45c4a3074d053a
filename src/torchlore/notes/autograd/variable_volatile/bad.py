import warnings

import torch
from torch import nn
from torch.autograd import Variable

warnings.filterwarnings("ignore")
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)).eval()
images = torch.randn(4, 8)

images = Variable(images, volatile=True)  # trap: variable-volatile
scores = model(images)

result = {"recorded": scores.requires_grad}
