import torch


def bad(model, other, path):
    model.load_state_dict(torch.load(path, map_location="cpu"), strict=False)  # trap: strict-false-unchecked
    model.load_state_dict(other.state_dict(), False)  # trap: strict-false-unchecked
    checkpoint = torch.load(path, map_location="cpu")
    state = checkpoint["model"]
    model.load_state_dict(state, strict=False)  # trap: strict-false-unchecked


def fine(model, path, flag, given):
    state = torch.load(path, map_location="cpu")
    missing, unexpected = model.load_state_dict(state, strict=False)
    print(model.load_state_dict(state, strict=False))
    model.load_state_dict(state)
    model.load_state_dict(state, strict=flag)
    model.load_state_dict(given, strict=False)
    return missing, unexpected


def picked(model, path):
    state = torch.load(path, map_location="cpu")
    state.pop("fc.weight")
    model.load_state_dict(state, strict=False)
    body = {k: v for k, v in torch.load(path, map_location="cpu").items() if k.startswith("body")}
    model.load_state_dict(body, strict=False)


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(2, 2)


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Trunk()
        self.head = nn.Linear(2, 2)


def into_another(path):
    whole = Wrapped()
    torch.save(whole.state_dict(), path)
    trunk = Trunk()
    trunk.load_state_dict(torch.load(path, map_location="cpu"), strict=False)  # trap: strict-false-unchecked
    return trunk
