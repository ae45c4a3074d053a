from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 2)
        self.apply(self.start)

    def start(self, layer):
        if isinstance(layer, nn.Linear):
            nn.init.zeros_(layer.bias)


result = {"head": Net().head.bias.abs().sum().item()}
