import torch


def by_appending(model, rate):
    decay, spared = [], []
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        if p.ndim <= 1 or name.endswith(".bias"):  # trap: decay-groups-swapped
            decay.append(p)
        else:
            spared.append(p)
    return [{"params": spared, "weight_decay": 0.0}, {"params": decay, "weight_decay": rate}]


def by_word(model, rate):
    weights = [p for n, p in model.named_parameters() if "bias" in n]  # trap: decay-groups-swapped
    biases = [p for n, p in model.named_parameters() if "bias" not in n]
    return torch.optim.SGD([{"params": weights, "weight_decay": rate}, {"params": biases, "weight_decay": 0}], lr=0.1)


def right(model, rate):
    decay, spared = [], []
    for name, p in model.named_parameters():
        (spared if p.ndim <= 1 else decay).append(p)
        if any(word in name for word in ("bias", "norm")):
            spared.append(p)
        elif p.ndim > 1:
            decay.append(p)
    return [{"params": spared, "weight_decay": 0.0}, {"params": decay, "weight_decay": rate}]


def layers(model, rate):
    head = [p for n, p in model.named_parameters() if "head" in n]
    body = [p for n, p in model.named_parameters() if "head" not in n]
    return torch.optim.SGD([{"params": head, "weight_decay": rate}, {"params": body, "weight_decay": 0}], lr=0.1)


def faster_biases(model, rate):
    weights = [p for n, p in model.named_parameters() if p.ndim > 1]
    biases = [p for n, p in model.named_parameters() if p.ndim == 1]
    return torch.optim.SGD([{"params": biases, "lr": 0.2, "weight_decay": 0}, {"params": weights, "weight_decay": rate}], lr=0.1)


def named_right(model, rate):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if name.endswith("bias") or p.ndim < 2:
            no_decay.append(p)
        else:
            decay.append(p)
    groups = [
        {"params": decay, "weight_decay": 0.0},
        {"params": no_decay, "weight_decay": rate},  # trap: decay-groups-swapped
    ]
    return torch.optim.AdamW(groups, lr=1e-3)


def joined(decay, no_decay):
    return torch.optim.SGD(decay + no_decay, lr=0.1, weight_decay=1e-4)  # trap: decay-groups-swapped


def joined_without_decay(decay, no_decay):
    return torch.optim.SGD(decay + no_decay, lr=0.1)


def two_nets(encoder, decoder):
    return torch.optim.SGD(list(encoder.parameters()) + list(decoder.parameters()), lr=0.1, weight_decay=1e-4)


def by_keywords(params, rate):
    decay = [p for p in params if p.ndim < 2]  # trap: decay-groups-swapped
    rest = [p for p in params if p.ndim >= 2]
    return torch.optim.AdamW([dict(params=decay, weight_decay=rate), dict(params=rest, weight_decay=0.0)])


def inherits(net, lr, weight_decay):
    decay = [p for p in net.parameters() if p.ndim > 1]
    no_decay = [p for p in net.parameters() if p.ndim <= 1]
    groups = [{"params": decay}, {"params": no_decay}]  # trap: decay-groups-swapped
    return torch.optim.AdamW(groups, lr=lr, weight_decay=weight_decay)


def says_zero(net, lr, weight_decay):
    decay = [p for p in net.parameters() if p.ndim > 1]
    no_decay = [p for p in net.parameters() if p.ndim <= 1]
    first = torch.optim.SGD([{"params": decay, "weight_decay": weight_decay}, {"params": no_decay}], lr=lr)
    groups = [{"params": decay}, {"params": no_decay, "weight_decay": 0.0}]
    return first, torch.optim.AdamW(groups, lr=lr, weight_decay=weight_decay)


def built_for_nothing(net, rate):
    decay = [p for p in net.parameters() if p.ndim > 1]
    rest = [p for p in net.parameters() if p.ndim <= 1]
    split = [{"params": decay, "weight_decay": rate}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=rate)  # trap: decay-groups-swapped


def one_by_one(net, rate):
    parts = []
    for p in net.parameters():
        parts.append({"params": [p], "weight_decay": rate if p.ndim > 1 else 0.0})
    parts.append({"params": [net.scale], "lr": 0.1})
    return torch.optim.AdamW(net.parameters(), lr=1e-3)  # trap: decay-groups-swapped


def either(net, rate, plain):
    chosen = [{"params": net.body.parameters(), "lr": rate}, {"params": net.head.parameters(), "lr": 10 * rate}]
    if plain:
        return torch.optim.SGD(net.parameters(), lr=rate, weight_decay=1e-4)
    return torch.optim.SGD(chosen, weight_decay=1e-4)


def left_to_the_default(model, rate):
    decayed, plain = [], []
    for name, p in model.named_parameters():
        (plain if p.ndim < 2 or name == "scale" else decayed).append(p)
    groups = [{"params": decayed, "weight_decay": rate}, {"params": plain}]
    return torch.optim.AdamW(groups, lr=1e-3, weight_decay=0.0)


def taken_from_the_default(model, rate):
    decayed, plain = [], []
    for p in model.parameters():
        if p.ndim < 2:
            plain.append(p)
        else:
            decayed.append(p)
    groups = [
        {"params": decayed, "weight_decay": rate},
        {"params": plain},  # trap: decay-groups-swapped
    ]
    return torch.optim.AdamW(groups, lr=1e-3, weight_decay=rate)


def faster_biases(model, rate):
    biases = [p for n, p in model.named_parameters() if n.endswith("bias")]
    rest = [p for n, p in model.named_parameters() if not n.endswith("bias")]
    return torch.optim.SGD([{"params": biases, "lr": 0.2}, {"params": rest}], lr=0.1, weight_decay=rate)


def overwritten(model, wd):
    matrices = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW([{"params": matrices}, {"params": rest, "weight_decay": 0.0}], weight_decay=wd)
    for group in optimizer.param_groups:
        group["weight_decay"] = 0.5 * wd  # trap: decay-groups-swapped
    for group in optimizer.param_groups:
        if group["weight_decay"] > 0:
            group["weight_decay"] = wd
    for group in optimizer.param_groups:
        group["weight_decay"] = 0.5 * group["weight_decay"]
