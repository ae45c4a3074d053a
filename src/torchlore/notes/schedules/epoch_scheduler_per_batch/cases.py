import torch
from torch.optim import lr_scheduler


def milestones(model, loader, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.MultiStepLR(optimizer, milestones=[30, 60, 90])
    for epoch in range(100):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
            sched.step()  # trap: epoch-scheduler-per-batch


def cosine(model, x, y, criterion, num_epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.CosineAnnealingLR(optimizer, num_epochs)
    for epoch in range(num_epochs):
        for i in range(0, len(x), 32):
            optimizer.zero_grad()
            criterion(model(x[i : i + 32]), y[i : i + 32]).backward()
            optimizer.step()
            sched.step()  # trap: epoch-scheduler-per-batch


def one_epoch(model, loader, criterion, optimizer, sched):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        sched.step()  # trap: epoch-scheduler-per-batch


def main(model, loader, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    decay = lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    for epoch in range(10):
        one_epoch(model, loader, criterion, optimizer, decay)


def in_batches(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    a = lr_scheduler.StepLR(optimizer, step_size=10 * len(loader))
    b = lr_scheduler.StepLR(optimizer, step_size=1000)
    c = lr_scheduler.ExponentialLR(optimizer, gamma=0.9995)
    d = lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
            a.step()
            b.step()
            c.step()
            d.step()


def full_batch(model, x, y, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.StepLR(optimizer, step_size=30)
    for epoch in range(100):
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        sched.step()


def half_of_the_epochs(generator, loader, criterion, epochs):
    optimizer = torch.optim.Adam(generator.parameters())
    sched = lr_scheduler.StepLR(optimizer, step_size=epochs // 2, gamma=0.1)
    for epoch in range(epochs):
        for low, high in loader:
            optimizer.zero_grad()
            criterion(generator(low), high).backward()
            optimizer.step()
            sched.step()  # trap: epoch-scheduler-per-batch


class Lit:
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        sched = lr_scheduler.MultiStepLR(optimizer, milestones=[10, 20])
        config = {"scheduler": sched, "interval": "step", "frequency": 1}  # trap: epoch-scheduler-per-batch
        return {"optimizer": optimizer, "lr_scheduler": config}


class LitInBatches:
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters())
        sched = lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.trainer.estimated_stepping_batches)
        slow = lr_scheduler.MultiStepLR(optimizer, milestones=[10, 20])
        return [optimizer], [{"scheduler": sched, "interval": "step"}, {"scheduler": slow, "interval": "epoch"}]


def plateau_each_batch(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3)
    slow = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2000)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            plateau.step(loss.item())  # trap: epoch-scheduler-per-batch
            slow.step(loss.item())


def one_epoch(model, loader, criterion, optimizer, scheduler):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    scheduler.step()


def twice(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for _ in range(epochs):
        one_epoch(model, loader, criterion, optimizer, scheduler)
        scheduler.step()  # trap: epoch-scheduler-per-batch


def once(model, loader, criterion, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for _ in range(epochs):
        one_epoch(model, loader, criterion, optimizer, scheduler)


def built(net):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    return {"net": net, "opt": opt, "plan": torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.9)}


def epoch_of(state, pairs, criterion):
    for x, y in pairs:
        state["opt"].zero_grad()
        criterion(state["net"](x), y).backward()
        state["opt"].step()
        state["plan"].step()  # trap: epoch-scheduler-per-batch


def run_state(net, pairs, criterion):
    state = built(net)
    for _ in range(20):
        epoch_of(state, pairs, criterion)


class Handed:
    def __init__(self, model, optimizer, scheduler=None):
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            self.one_epoch(loader)

    def one_epoch(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            if self.scheduler is not None:
                self.scheduler.step(loss)  # trap: epoch-scheduler-per-batch


def handed(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    Handed(net, optimizer, lr_scheduler.ReduceLROnPlateau(optimizer, patience=5)).fit(loader, 10)


def only_if_asked(model, loader, criterion, per_batch):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sched = lr_scheduler.StepLR(optimizer, 1, 0.5)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
            if per_batch:
                sched.step()


def batch_and_epoch(model, loader, criterion, warm):
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
    schedule = lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warm))
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
            schedule.step()
        schedule.step()  # trap: epoch-scheduler-per-batch
