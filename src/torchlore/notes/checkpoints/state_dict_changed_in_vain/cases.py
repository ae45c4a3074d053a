import torch


def load(model, path):
    weights = torch.load(path, map_location="cpu")
    for name, value in weights.items():
        model.state_dict()[name] = value  # trap: state-dict-changed-in-vain


def forgotten(model, path):
    own = model.state_dict()
    weights = {k: v for k, v in torch.load(path, map_location="cpu").items() if k in own}
    own.update(weights)  # trap: state-dict-changed-in-vain
    return model


def right(model, path):
    own = model.state_dict()
    own.update(torch.load(path, map_location="cpu"))
    model.load_state_dict(own)
    for name, value in own.items():
        model.state_dict()[name].copy_(value)


def returned(model, extra):
    state = model.state_dict()
    state.update(extra)
    return state


def in_place(model, moved, rate):
    for key in model.state_dict():
        model.state_dict()[key] -= rate * moved[key]


class Agent:
    def __init__(self, policy, target):
        self.policy, self.target = policy, target

    def sync(self):
        self.target.load_state_dict(self.target.state_dict())  # trap: state-dict-changed-in-vain
        self.policy.load_state_dict(self.target.state_dict())


def counted(model, weights):
    own = model.state_dict()
    own.update({k: v for k, v in weights.items() if k in own})  # trap: state-dict-changed-in-vain
    print("loaded %d of %d" % (len(weights), len(own)))
    return model


def counted_and_loaded(model, weights):
    own = model.state_dict()
    own.update({k: v for k, v in weights.items() if k in own})
    print("loaded", len(own))
    model.load_state_dict(own)
