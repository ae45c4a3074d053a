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


def by_find(m, name, soup):
    classname = m.__class__.__name__
    if classname.find("Conv"):  # trap: condition-always-true
        m.weight.data.normal_(0.0, 0.02)
    kept = [n for n, _ in m.named_modules() if not name.find("bn")]  # trap: condition-always-true
    if classname.find("Linear") != -1 or soup.find("Linear"):
        m.bias.data.zero_()
    return kept, name.find("x") > 0
