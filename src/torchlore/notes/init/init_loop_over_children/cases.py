import torch.nn as nn
import torchvision


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Conv2d(3, 3, 3)])
        self.fc = nn.Linear(3, 3)

    def reset(self):
        for name, part in self.named_children():  # trap: init-loop-over-children
            if isinstance(part, (nn.Conv2d, nn.Linear)):
                nn.init.xavier_uniform_(part.weight)

    def reset_all(self):
        for part in self.modules():
            if isinstance(part, nn.Linear):
                nn.init.xavier_uniform_(part.weight)


model = torchvision.models.resnet18()
for layer in model.children():  # trap: init-loop-over-children
    if isinstance(layer, nn.Conv2d):
        nn.init.kaiming_normal_(layer.weight)

net = Net()
for layer in net.children():  # trap: init-loop-over-children
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight)

flat = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
for layer in flat.children():
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight)


def init(module):
    for child in module.children():
        if isinstance(child, nn.Linear):
            nn.init.normal_(child.weight)
        init(child)


for child in model.children():
    if isinstance(child, nn.Conv2d):
        print(child.kernel_size)
