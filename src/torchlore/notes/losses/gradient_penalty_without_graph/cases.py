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


def slopes(critic, x, **kw):
    grads = autograd.grad(critic(x).sum(), x, **kw)[0]
    return grads.norm(2, dim=1)


def penalty_of_slopes(critic, x):
    return 10 * (slopes(critic, x) - 1).pow(2).mean()  # trap: gradient-penalty-without-graph


def right_penalty_of_slopes(critic, x):
    return 10 * (slopes(critic, x, create_graph=True) - 1).pow(2).mean()


def input_gradient(critic, x, keep=False):
    return autograd.grad(critic(x).sum(), x, create_graph=keep)[0]


def r1_term(critic, real, fake):
    r1_penalty = input_gradient(critic, real).pow(2).sum(1).mean()  # trap: gradient-penalty-without-graph
    r2_penalty = input_gradient(critic, fake, True).pow(2).sum(1).mean()
    print("mean slope", slopes(critic, real).mean().item(), input_gradient(critic, fake).abs().mean().item())
    return r1_penalty + r2_penalty


def field(critic, x):
    out = critic(x).sum()
    return torch.autograd.grad(out, x)[0].flatten(1)  # trap: gradient-penalty-without-graph


class Critic:
    def step(self, x, loss):
        lipschitz = (field(self, x).norm(dim=1) - 1).clamp(min=0).square().mean()
        return loss + lipschitz


def saliency(critic, x):
    return autograd.grad(critic(x).sum(), x)[0]


def drawn(critic, x):
    return saliency(critic, x).abs().amax(1)
