import torch


class Trainer:
    def __init__(self, net, optimizer, path):
        self.net, self.optimizer, self.path, self.epoch = net, optimizer, path, 0

    def save(self):
        torch.save({"net": self.net.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": self.epoch}, self.path)

    def resume(self):
        state = torch.load(self.path, map_location="cpu")
        self.net.load_state_dict(state["net"])  # trap: saved-state-not-loaded
        self.epoch = state["epoch"]

    def fit(self, x, y, stop):
        while self.epoch < stop:
            loss = (self.net(x) - y).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.epoch += 1


def show(net, path):
    state = torch.load(path, map_location="cpu")
    net.load_state_dict(state["net"])
    epoch = state["epoch"]
    print("weights of epoch", epoch)


def start_from(net, path):
    state = torch.load(path, map_location="cpu")
    net.load_state_dict(state["net"])
    return net


def load_checkpoint(net, path):
    state = torch.load(path, map_location="cpu")
    net.load_state_dict(state["net"])  # trap: saved-state-not-loaded
    return state["epoch"] + 1


def main(net, loader, criterion, optimizer, path):
    start_epoch = load_checkpoint(net, path)
    for epoch in range(start_epoch, 10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(net(x), y).backward()
            optimizer.step()
        print(epoch)
