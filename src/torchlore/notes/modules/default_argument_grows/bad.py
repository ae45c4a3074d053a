from torch import nn


def tower(width, layers=[]):  # trap: default-argument-grows
    layers.append(nn.Linear(width, width))
    layers.append(nn.Linear(width, 1))
    return nn.Sequential(*layers)


actor, critic = tower(4), tower(4)
shared = {id(p) for p in actor.parameters()} & {id(p) for p in critic.parameters()}
result = {"layers": len(critic), "shared": len(shared)}
