"""Other spellings of gradient-norm-per-pixel, and code that only looks like it."""
import torch
from torch import autograd


def images(critic, real, fake):
    eta = torch.FloatTensor(real.size(0), 1, 1, 1).uniform_(0, 1)
    mixed = (eta * real + (1 - eta) * fake).requires_grad_(True)
    out = critic(mixed)
    gradients = autograd.grad(outputs=out, inputs=mixed, grad_outputs=torch.ones_like(out), create_graph=True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()  # trap: gradient-norm-per-pixel


def rolled(critic, real, fake):
    alpha = torch.rand((real.shape[0], 1, 1, 1), device=real.device)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    (grads,) = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return (torch.norm(grads, 2, 1) - 1).square().mean()  # trap: gradient-norm-per-pixel


def flattened(critic, real, fake):
    alpha = torch.rand(real.shape[0], 1, 1, 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    grads = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    grads = grads.view(grads.size(0), -1)
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


def rows(critic, real, fake):
    alpha = torch.rand(real.shape[0], 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    grads = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


def whole(critic, real, fake):
    alpha = torch.rand(real.shape[0], 1, 1, 1)
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    grads = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.norm(2, dim=(1, 2, 3)) - 1) ** 2).mean()


def a_number_for_each_pixel(critic, real, fake):
    alpha = torch.rand(real.size())  # trap: gradient-norm-per-pixel
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    grads = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.view(grads.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


def as_a_step(critic, real, fake):
    eps = torch.rand_like(real)  # trap: gradient-norm-per-pixel
    mixed = (real + eps * (fake - real)).requires_grad_(True)
    grads = autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    return ((grads.flatten(1).norm(2, dim=1) - 1) ** 2).mean()


def noise_around_the_data(critic, real):
    noise = torch.rand_like(real)
    near = (real + 0.5 * real.std() * noise).requires_grad_(True)
    grads = autograd.grad(critic(near).sum(), near, create_graph=True)[0]
    return ((grads.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
