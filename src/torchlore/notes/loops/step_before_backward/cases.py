import torch


def late(model, loader, criterion, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.step()  # trap: step-before-backward
        optimizer.zero_grad()
        loss.backward()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(self, loader, criterion):
        for x, y in loader:
            self.optimizer.zero_grad()
            self.optimizer.step()  # trap: step-before-backward
            criterion(self.model(x), y).backward()


def while_loop(model, x, y, criterion, opt):
    step = 0
    while step < 10:
        opt.zero_grad()
        loss = criterion(model(x), y)
        opt.step()  # trap: step-before-backward
        loss.backward()
        step += 1


def accumulate(model, loader, criterion, optimizer, k):
    for i, (x, y) in enumerate(loader):
        if i % k == 0:
            optimizer.step()
            optimizer.zero_grad()
        (criterion(model(x), y) / k).backward()


def right(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()


def two(model, loader, criterion, first, second):
    for x, y in loader:
        first.zero_grad()
        criterion(model(x), y).backward()
        first.step()
        second.zero_grad()
        criterion(model(x), y).backward()
        second.step()


def closure(model, x, y, criterion, optimizer):
    for _ in range(5):

        def evaluate():
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            return loss

        optimizer.step(evaluate)


def two_of_them(encoder, decoder, loader, criterion):
    enc_opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
    dec_opt = torch.optim.SGD(decoder.parameters(), lr=0.1)
    for x, y in loader:
        enc_opt.zero_grad()
        dec_opt.zero_grad()
        criterion(decoder(encoder(x)), y).backward()
        enc_opt.step()  # trap: step-before-backward


class Seq2Seq:
    def __init__(self, encoder, decoder):
        self.enc_optimizer = torch.optim.Adam(encoder.parameters())
        self.dec_optimizer = torch.optim.Adam(decoder.parameters())
        self.gen_optimizer = torch.optim.Adam(decoder.parameters())
        self.scaled_optimizer = torch.optim.Adam(decoder.parameters())

    def update(self, loss, scaler):
        self.enc_optimizer.zero_grad()
        self.dec_optimizer.zero_grad()
        self.gen_optimizer.zero_grad()
        self.scaled_optimizer.zero_grad()
        loss.backward()
        self.enc_optimizer.step()  # trap: step-before-backward
        scaler.step(self.scaled_optimizer)

    def finish(self):
        self.gen_optimizer.step()
