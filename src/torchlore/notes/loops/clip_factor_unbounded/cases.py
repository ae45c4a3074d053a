"""Other spellings of clip-factor-unbounded, and code that only looks like it."""
import torch


def turned(model, clip):
    total = torch.sqrt(sum(p.grad.pow(2).sum() for p in model.parameters()))
    if total > clip:
        for p in model.parameters():
            p.grad *= total / clip  # trap: clip-factor-unbounded


def turned_and_bounded(model, max_grad_norm):
    total_norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    coef = min(1.0, total_norm / max_grad_norm)  # trap: clip-factor-unbounded
    for p in model.parameters():
        p.grad.data.mul_(coef)


def assigned(params, threshold):
    norm = sum(p.grad.data.norm(2).item() ** 2 for p in params) ** 0.5
    for p in params:
        p.grad = p.grad * (threshold / norm)  # trap: clip-factor-unbounded


def divided(model, max_norm):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    for p in model.parameters():
        p.grad.div_(norm / max_norm)  # trap: clip-factor-unbounded


def asked_first(model, max_norm):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    if norm > max_norm:
        for p in model.parameters():
            p.grad.mul_(max_norm / norm)


def asked_about_the_factor(model, max_norm):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    coef = max_norm / (norm + 1e-6)
    if coef < 1:
        for p in model.parameters():
            p.grad.mul_(coef)


def returned_early(model, max_norm):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    if norm <= max_norm:
        return
    for p in model.parameters():
        p.grad.mul_(max_norm / norm)


def bounded(model, max_norm):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    coef = max_norm / max(norm, max_norm)
    for p in model.parameters():
        p.grad.mul_(coef)


def unit_length(model, length):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    for p in model.parameters():
        p.grad.mul_(length / norm)


def set_later(model, max_norm):
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    coef = max_norm / norm
    coef = min(coef, 1.0)
    for p in model.parameters():
        p.grad.mul_(coef)


def in_a_list(params, limit):
    grads = [p.grad for p in params if p.grad is not None]
    total = torch.norm(torch.stack([g.norm(2) for g in grads]), 2)
    scale = total / limit  # trap: clip-factor-unbounded
    if scale > 1:
        for g in grads:
            g.mul_(scale)


def in_a_list_right(params, limit):
    grads = [p.grad for p in params if p.grad is not None]
    total = torch.norm(torch.stack([g.norm(2) for g in grads]), 2)
    scale = total / limit
    if scale > 1:
        for g in grads:
            g.div_(scale)
