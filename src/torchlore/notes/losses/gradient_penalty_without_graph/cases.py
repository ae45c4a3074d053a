import torch
from torch import autograd


def gradient_penalty(critic, mixed, ones):
    scores = critic(mixed)
    grads = autograd.grad(outputs=scores, inputs=mixed, grad_outputs=ones, retain_graph=True)[0]  # trap: gradient-penalty-without-graph
    grads = grads.view(grads.size(0), -1)
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


def r1(critic, real):
    (g,) = torch.autograd.grad(critic(real).sum(), real, create_graph=False)  # trap: gradient-penalty-without-graph
    r1_penalty = g.pow(2).flatten(1).sum(1).mean()
    return r1_penalty


def invariance(losses, params):
    penalty = 0
    for one in losses:
        grad = autograd.grad(one, params, retain_graph=True)[0]  # trap: gradient-penalty-without-graph
        penalty += grad.pow(2).sum()
    return penalty


def right_penalty(critic, mixed):
    grads = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


def attack(model, x, y, loss):
    grad = torch.autograd.grad(loss(model(x), y), x)[0]
    return x + 0.03 * grad.sign()


def first_order(model, loss, lr):
    grads = torch.autograd.grad(loss, model.parameters())
    return [p - lr * g for p, g in zip(model.parameters(), grads, strict=True)]


def shown(score, x):
    grad = torch.autograd.grad(score, x)[0]
    penalty_shown = grad.norm().item()
    return penalty_shown
