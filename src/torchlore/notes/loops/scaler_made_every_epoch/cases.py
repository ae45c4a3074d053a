import torch
from torch.amp import GradScaler


class Trainer:
    def fit(self, epochs):
        for epoch in range(epochs):
            print(epoch)
            self.run_epoch()

    def run_epoch(self):
        scaler = GradScaler("cuda")  # trap: scaler-made-every-epoch
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            scaler.scale(loss).backward()
            scaler.step(self.optimizer)
            scaler.update()


def folds(make, x, y, splits):
    for fold in range(splits):
        model = make(fold)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        for _ in range(10):
            optimizer.zero_grad()
            scaler.scale(((model(x) - y) ** 2).mean()).backward()
            scaler.step(optimizer)
            scaler.update()
