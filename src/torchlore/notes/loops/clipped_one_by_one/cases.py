from torch.nn.utils import clip_grad_norm_, clip_grad_value_


def by_name(model, limit):
    for _, p in model.named_parameters():
        clip_grad_norm_(p, limit)  # trap: clipped-one-by-one


def by_part(model, limit):
    for part in model.children():
        clip_grad_norm_(part.parameters(), limit)
    for p in model.parameters():
        clip_grad_value_(p, limit)
