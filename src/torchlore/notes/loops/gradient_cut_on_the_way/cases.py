import torch
from torch import nn


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(4, 4)
        self.text = nn.Linear(4, 4)
        self.aux = nn.Linear(4, 2)
        self.fuse = nn.Linear(8, 2)

    def forward(self, image, text):
        seen = self.image(image).detach()  # trap: gradient-cut-on-the-way
        read = self.text(text)
        side = self.aux(read.detach())  # a probe, on purpose
        return self.fuse(torch.cat([seen, read], 1)), side


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(4, 4)
        self.fuse = nn.Linear(4, 2)
        self.last = None

    def forward(self, image):
        seen = self.image(image)
        self.last = seen.detach()
        return self.fuse(seen)


class Loaded(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.body.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        self.fuse = nn.Linear(4, 2)

    def forward(self, image):
        return self.fuse(self.body(image).detach())


def fit(loader, path):
    pair, kept, loaded = Pair(), Kept(), Loaded(path)
    for model in (pair, kept, loaded):
        print(sum(p.numel() for p in model.parameters()))
    first, second = torch.optim.Adam(pair.parameters()), torch.optim.Adam(kept.parameters())
    third = torch.optim.Adam(loaded.parameters())
    for x, y, z in loader:
        for one in (first, second, third):
            one.zero_grad()
        out, side = pair(x, y)
        loss = nn.functional.cross_entropy(out, z) + nn.functional.cross_entropy(side, z)
        loss = loss + nn.functional.cross_entropy(kept(x), z) + nn.functional.cross_entropy(loaded(x), z)
        loss.backward()
        for one in (first, second, third):
            one.step()


def there_and_back(batches):
    there, back, other = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
    both = torch.optim.Adam([*there.parameters(), *back.parameters(), *other.parameters()])
    for x in batches:
        middle = there(x)
        again = back(middle.detach())  # trap: gradient-cut-on-the-way
        seen = other(x)
        loss = (again - x).abs().mean() + seen.mean()
        print(seen.detach().mean())
        both.zero_grad()
        loss.backward()
        both.step()


def rivals(batches):
    maker, judge = nn.Linear(4, 4), nn.Linear(4, 1)
    first, second = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
    for x in batches:
        made = maker(x)
        second.zero_grad()
        (judge(made.detach()) - judge(x)).mean().backward()
        second.step()
        first.zero_grad()
        (-judge(made)).mean().backward()
        first.step()


class Rounds(nn.Module):
    def __init__(self):
        super().__init__()
        self.coarse, self.mid, self.fine = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.first, self.second, self.third = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        scores = self.first(x)
        scores = torch.tensor(scores.softmax(1).tolist())  # trap: gradient-cut-on-the-way
        more = torch.tensor(torch.relu(self.second(scores)))  # trap: gradient-cut-on-the-way
        gate = torch.sigmoid(self.coarse(more))
        gate = (gate > 0.5).float()  # trap: gradient-cut-on-the-way
        if self.mid(x).mean() > 0:
            print("large", (self.fine(x) > 0).sum())
        kept = self.third(more * gate)
        print(kept.tolist(), kept.mean().item())
        return kept


def learn(batches):
    net = Rounds()
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()


class Sampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.scale, self.decoder = nn.Linear(8, 2), nn.Linear(8, 2), nn.Linear(2, 8)

    def posterior(self, x):
        return torch.distributions.Normal(self.mean(x), self.scale(x).exp())

    def forward(self, x):
        q = self.posterior(x)
        z = q.sample()  # trap: gradient-cut-on-the-way
        return self.decoder(z), q

    def generated(self, n):
        return self.decoder(torch.distributions.Normal(torch.zeros(n, 2), torch.ones(n, 2)).sample())


class Reparameterised(Sampled):
    def forward(self, x):
        q = self.posterior(x)
        with torch.no_grad():
            shown = self.decoder(q.sample())
        return self.decoder(q.rsample()), shown
