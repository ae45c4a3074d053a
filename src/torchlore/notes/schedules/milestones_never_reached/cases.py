import torch
from torch.optim.lr_scheduler import MultiStepLR


def main(model, loader):
    epochs = 20
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    far = MultiStepLR(optimizer, [3000, 6000])  # trap: milestones-never-reached
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        far.step()


def run(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = MultiStepLR(optimizer, [3000, 6000])
    for epoch in range(20):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            batches.step()
    again = MultiStepLR(optimizer, [30, 60])
    for epoch in range(epochs):
        again.step()
