import torch
import torchvision
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x))


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(x)


def fit(net, loader, opt):
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()


def evaluate(net, loader):
    hits = 0  # trap: eval-mode-missing
    for x, y in loader:
        hits += (net(x).argmax(1) == y).sum().item()
    return hits


def evaluate_well(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)


@torch.no_grad()
def predict(network, x):
    return network(x)


def main(loader):
    forgotten, switched, plain = Net(), torchvision.models.resnet18(weights=None), Plain()
    for net in (1, 2):
        fit(forgotten, loader, torch.optim.SGD(forgotten.parameters(), 0.1))
        evaluate(forgotten, loader)
    fit(switched, loader, torch.optim.SGD(switched.parameters(), 0.1))
    evaluate_well(switched, loader)
    opt = torch.optim.SGD(plain.parameters(), 0.1)
    nn.functional.cross_entropy(plain(torch.ones(1, 4)), torch.ones(1).long()).backward()
    opt.step()
    return predict(plain, torch.ones(1, 4))


def restored(loader):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for x, y in loader:
        model.train()
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
        model.eval()
        with torch.no_grad():
            print(model(x))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))

    def forward(self, z):
        return self.net(z)


def sampled(critic, loader, writer):
    gen, fixed_noise = Generator(), torch.randn(32, 4)
    opt = torch.optim.Adam(gen.parameters())
    for _ in loader:
        opt.zero_grad()
        (-critic(gen(torch.randn(8, 4))).mean()).backward()
        opt.step()
        with torch.no_grad():
            writer.add_images("fake", gen(fixed_noise))


def cached_features(loader, every):
    model = Net()
    opt = torch.optim.SGD(model.parameters(), 0.1)
    kept = []
    for x, y in loader:
        if every == 1:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
        else:
            with torch.no_grad():
                kept.append(model(x))
            if len(kept) < every:
                continue
            opt.zero_grad()
            nn.functional.cross_entropy(model(x) + sum(kept), y).backward()
            kept.clear()
        opt.step()


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.2))

    def forward(self, x, y):
        return nn.functional.mse_loss(self.body(x), y)


@torch.no_grad()
def estimate(language, batches):
    return [language(x, y).item() for x, y in batches]  # trap: eval-mode-missing


def first_look_then_train(batches):
    language = Language()
    optimizer = torch.optim.Adam(language.parameters())
    for step in range(100):
        if step % 20 == 0:
            print(estimate(language, batches))
        for x, y in batches:
            loss = language(x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Dropout()) for _ in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def with_blocks(loader):
    blocks = Blocks()
    opt = torch.optim.SGD(blocks.parameters(), 0.1)
    for _ in range(3):
        blocks.train()
        fit(blocks, loader, opt)
        blocks.eval()
        with torch.no_grad():
            print(sum(blocks(x).sum() for x, _ in loader))


def policy_loss(policy, states, following):
    scores = policy(states)
    with torch.no_grad():
        target = policy(following).max(1).values
    return (scores.max(1).values - target).pow(2).mean()


def bootstraps(batches):
    policy = nn.Sequential(nn.Linear(4, 2), nn.Dropout())
    opt = torch.optim.SGD(policy.parameters(), 0.1)
    for step, (states, following) in enumerate(batches):
        if step % 2 == 0:
            opt.zero_grad()
            policy_loss(policy, states, following).backward()
            opt.step()


def select_action(player, state):
    with torch.no_grad():
        return player(state).argmax(1)


def plays(env, batches):
    player = nn.Sequential(nn.Linear(4, 2), nn.Dropout())
    opt = torch.optim.SGD(player.parameters(), 0.1)
    for step, (states, wanted) in enumerate(batches):
        opt.zero_grad()
        nn.functional.mse_loss(player(states), wanted).backward()
        opt.step()
        env.step(select_action(player, states))


def used(path, x):
    loaded = Net()
    loaded.load_state_dict(torch.load(path, map_location="cpu"))
    with torch.no_grad():  # trap: eval-mode-missing
        return loaded(x)
