import torch
import torch.autograd as autograd
from torch.autograd import Variable


def old(x, model, flag):
    a = autograd.Variable(x, volatile=True)  # trap: variable-volatile
    b = Variable(x.cuda(), requires_grad=False, volatile=flag)  # trap: variable-volatile
    x.volatile = True  # trap: variable-volatile
    c = Variable(x)  # trap: variable-volatile
    return model(a), b, c


def fine(x, Variable):
    y = Variable(x, volatile=True)  # some other Variable
    z = torch.autograd.Variable(x, requires_grad=True)
    w = torch.autograd.Variable(x, volatile=False)
    y.volatile = False
    return y, z, w
