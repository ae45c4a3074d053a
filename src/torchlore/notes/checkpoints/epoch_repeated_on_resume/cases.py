import torch


class Runner:
    def __init__(self, net, optimizer, path):
        self.net, self.optimizer, self.path = net, optimizer, path

    def save(self, epoch):
        torch.save({"epoch": epoch, "net": self.net.state_dict(), "opt": self.optimizer.state_dict()}, self.path)

    def resume(self):
        state = torch.load(self.path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["opt"])
        return state["epoch"]  # trap: epoch-repeated-on-resume

    def run(self, loader, loss, epochs):
        start = self.resume()
        for epoch in range(start, epochs):
            for x, y in loader:
                self.optimizer.zero_grad()
                loss(self.net(x), y).backward()
                self.optimizer.step()
            self.save(epoch)


class Ignored:
    def __init__(self, net, optimizer, path):
        self.net, self.optimizer, self.start_epoch = net, optimizer, 0
        self.load(path)

    def load(self, path):
        state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["opt"])
        self.start_epoch = state.get("epoch", 0) + 1
        print("resuming at", self.start_epoch)

    def run(self, loader, loss, epochs):
        for epoch in range(epochs):  # trap: epoch-repeated-on-resume
            for x, y in loader:
                self.optimizer.zero_grad()
                loss(self.net(x), y).backward()
                self.optimizer.step()
            torch.save({"net": self.net.state_dict(), "opt": self.optimizer.state_dict(), "epoch": epoch}, "last.pt")
