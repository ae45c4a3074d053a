import torch


def phases(phase, model, name, given):
    if phase == "train" or "val":  # trap: condition-always-true
        model.train()
    decay = [p for n, p in model.named_parameters() if not ("bias" or "norm" in n)]  # trap: condition-always-true
    label = given or "none"
    shown = name if name == "a" or given else "b"
    if phase == "train" or phase == "val":
        model.eval()
    if given or "val" in phase:
        print(label, shown)
    return decay, torch.device("cpu" or name)
