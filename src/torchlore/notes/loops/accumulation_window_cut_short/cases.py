import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 8


def helper(net, loader, criterion, opt, args):
    opt.zero_grad()
    for step, batch in enumerate(loader):
        loss = criterion(net(batch["x"]), batch["y"]) / args.accum
        loss.backward()
        if step % args.accum == 0:  # trap: accumulation-window-cut-short
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()


class Trainer:
    def __init__(self, net):
        self.net = net
        self.loader = DataLoader(TensorDataset(torch.randn(300, 10), torch.randn(300, 1)), batch_size=15)
        self.opt = torch.optim.Adam(net.parameters())

    def epoch(self):
        self.opt.zero_grad()
        for i, (x, y) in enumerate(self.loader):
            (nn.functional.mse_loss(self.net(x), y) / ACCUM).backward()
            if (i + 1) % ACCUM == 0:  # trap: accumulation-window-cut-short
                self.opt.step()
                self.opt.zero_grad()

    def flushed(self):
        self.opt.zero_grad()
        for i, (x, y) in enumerate(self.loader):
            (nn.functional.mse_loss(self.net(x), y) / ACCUM).backward()
            if (i + 1) % ACCUM == 0:
                self.opt.step()
                self.opt.zero_grad()
        self.opt.step()

    def whole(self):
        self.opt.zero_grad()
        for i, (x, y) in enumerate(self.loader):
            (nn.functional.mse_loss(self.net(x), y) / 5).backward()
            if (i + 1) % 5 == 0:
                self.opt.step()
                self.opt.zero_grad()


def critic_more_often(gen, critic, opt_g, opt_c, loader, n_critic):
    for i, real in enumerate(loader):
        opt_c.zero_grad()
        (critic(gen(torch.randn(8, 4)).detach()).mean() - critic(real).mean()).backward()
        opt_c.step()
        if i % n_critic == 0:
            opt_g.zero_grad()
            (-critic(gen(torch.randn(8, 4))).mean()).backward()
            opt_g.step()


def counted_from_one(net, loader, criterion, opt, k):
    for i, (x, y) in enumerate(loader, 1):
        (criterion(net(x), y) / k).backward()
        if i % k == 0:
            opt.step()
            opt.zero_grad()


def zeroed_at_the_start_of_a_window(net, loader, criterion, opt, k):
    for i, (x, y) in enumerate(loader):
        if i % k == 0:
            opt.zero_grad()
        (criterion(net(x), y) / k).backward()
        if i % k == k - 1:
            opt.step()


def sizes_from_the_call(net, data, criterion, batch_size=16, every=4):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(data, batch_size=batch_size, shuffle=True)
    for _ in range(3):
        opt.zero_grad()
        for i, (x, y) in enumerate(loader):
            (criterion(net(x), y) / every).backward()
            if (i + 1) % every == 0:  # trap: accumulation-window-cut-short
                opt.step()
                opt.zero_grad()


def call_it(net, criterion):
    x, y = torch.randn(176, 3), torch.randn(176, 1)
    sizes_from_the_call(net, torch.utils.data.TensorDataset(x, y), criterion)


def in_the_other_turns(net, loader, criterion, opt, k):
    for i, (x, y) in enumerate(loader):
        (criterion(net(x), y) / k).backward()
        if (i + 1) % k:  # trap: accumulation-window-cut-short
            opt.step()
            opt.zero_grad()


def not_yet(net, loader, criterion, opt, k):
    for i, (x, y) in enumerate(loader):
        (criterion(net(x), y) / k).backward()
        if (i + 1) % k:
            continue
        opt.step()
        opt.zero_grad()


def negated(net, loader, criterion, opt, k):
    for i, (x, y) in enumerate(loader):
        (criterion(net(x), y) / k).backward()
        if not (i + 1) % k:
            opt.step()
            opt.zero_grad()
