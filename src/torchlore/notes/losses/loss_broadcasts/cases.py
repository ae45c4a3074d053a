import torch
import torch.nn.functional as F
from torch import nn

criterion = nn.MSELoss()
head = nn.Linear(16, 1)
features = torch.randn(32, 16)
flat = torch.randn(32)
column = torch.randn(32, 1)

criterion(head(features), flat)  # trap: loss-broadcasts
F.smooth_l1_loss(head(features), flat)  # trap: loss-broadcasts
nn.L1Loss()(flat, head(features))  # trap: loss-broadcasts

criterion(head(features), column)
criterion(head(features).squeeze(-1), flat)
criterion(head(features)[:, 0], flat)
criterion(head(features), flat.unsqueeze(1))
criterion(head(features), flat[:, None])
criterion(head(features).view(-1), flat)
criterion(head(features).flatten(), flat)


def train(model, loader):
    for inputs, targets in loader:
        criterion(model(inputs), targets)


data = torch.randn(500, 16)
pairs = torch.utils.data.TensorDataset(data, data.sum(dim=1))
for inputs, targets in torch.utils.data.DataLoader(pairs, batch_size=32):
    criterion(head(inputs), targets)  # trap: loss-broadcasts
    criterion(head(inputs).squeeze(1), targets)
    ((head(inputs) - targets) ** 2).mean().backward()  # trap: loss-broadcasts
    ((head(inputs)[:, 0] - targets) ** 2).mean().backward()
for k in range(0, 500, 50):
    criterion(head(data[k : k + 50]), (data @ torch.randn(16))[k : k + 50])  # trap: loss-broadcasts
    criterion(head(data[k : k + 50]), data[k : k + 50, :1])
for part, goal in zip(data.split(20), data[:, 0].split(20)):
    criterion(head(part), goal)  # trap: loss-broadcasts


class Houses(torch.utils.data.Dataset):
    def __init__(self):
        self.x = torch.randn(100, 16)
        self.y = self.x.sum(1)

    def __len__(self):
        return 100

    def __getitem__(self, i):
        return {"x": self.x[i], "y": self.y[i], "column": self.y[i : i + 1]}


for batch in torch.utils.data.DataLoader(Houses(), batch_size=10):
    criterion(head(batch["x"]), batch["y"])  # trap: loss-broadcasts
    criterion(head(batch["x"]), batch["column"])


def own_error(pred, target):
    return ((pred - target) ** 2).mean()


def pairwise(a, b):
    a = a.unsqueeze(1)
    return (a - b).abs().mean()


class Fits:
    def __init__(self):
        self.model = nn.Linear(16, 1)
        self.criterion, self.far = own_error, pairwise

    def step(self, x=torch.randn(32, 16), y=torch.randn(32)):
        wrong = self.criterion(self.model(torch.randn(32, 16)), torch.randn(32))  # trap: loss-broadcasts
        return wrong + self.criterion(self.model(x).squeeze(-1), y) + self.far(self.model(x), y)


class Acts:
    def __init__(self):
        self.net, self.aim = nn.Linear(4, 2), nn.Linear(4, 2)

    def learn(self, s, a, r, then, done):
        picked = self.net(s).gather(1, a.unsqueeze(1))
        with torch.no_grad():
            best = self.aim(then).max(1)[0]
            aimed = r + 0.99 * best * (1 - done)
        return F.smooth_l1_loss(picked, aimed)  # trap: loss-broadcasts

    def right(self, s, a, r, then, done):
        picked = self.net(s).gather(1, a.view(-1, 1))
        with torch.no_grad():
            kept = r + 0.99 * self.aim(then).max(1, keepdim=True)[0] * (1 - done)
            made = r + 0.99 * self.aim(then).max(1)[0].unsqueeze(1)
        flat = r + 0.99 * self.aim(then).max(1).values.detach()
        row = F.mse_loss(picked.squeeze(1), flat) + F.mse_loss(picked, flat.unsqueeze(1))
        return F.mse_loss(picked, kept) + F.mse_loss(picked, made) + row


class Pairs(torch.utils.data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.randn(4), torch.randn(4), torch.tensor([float(i % 2)])


def contrast(one, other, label):
    far = F.pairwise_distance(one, other)
    return (label * far.pow(2) + (1 - label) * torch.clamp(2 - far, min=0).pow(2)).mean()  # trap: loss-broadcasts


def contrast_in_columns(one, other, label):
    far = F.pairwise_distance(one, other, keepdim=True)
    return (label * far.pow(2) + (1 - label) * torch.clamp(2 - far, min=0).pow(2)).mean()


for one, other, label in torch.utils.data.DataLoader(Pairs(), batch_size=10):
    contrast(one, other, label)
    contrast_in_columns(one, other, label)


def rmse(pred, target):
    return torch.sqrt(((pred - target) ** 2).mean() + 1e-12)


for batch in torch.utils.data.DataLoader(Houses(), batch_size=10):
    rmse(head(batch["x"]), batch["y"])  # trap: loss-broadcasts
    rmse(head(batch["x"]), batch["column"])


def actor_critic(net, states, returns, log_prob):
    value = net(states)
    critic = nn.functional.mse_loss(value.squeeze(-1), returns)
    gain = returns - value.detach()  # trap: loss-broadcasts
    return critic - (log_prob * gain).mean()


def squeezed_first(net, states, returns, log_prob):
    value = net(states)
    critic = nn.functional.mse_loss(value.squeeze(-1), returns)
    value = value.squeeze(-1)
    gain = returns - value.detach()
    return critic - (log_prob * gain).mean()


class Horizon(nn.Module):
    def __init__(self, hidden=8, steps=1):
        super().__init__()
        self.out = nn.Linear(hidden, steps)

    def forward(self, x):
        return self.out(x)


class Several(Horizon):
    def __init__(self, hidden=8, steps=4):
        super().__init__(hidden, steps)
        self.again = nn.Linear(hidden, steps)

    def forward(self, x):
        return self.again(x)


def forecast():
    one, more, flat = Horizon(), Several(), torch.randn(8)
    criterion(one(torch.randn(8, 8)), flat)  # trap: loss-broadcasts
    criterion(more(torch.randn(4, 8)), torch.randn(4))


def bootstrapped(reward, gamma):
    critic, done = nn.Linear(3, 1), torch.zeros(32)
    target = torch.randn(32) + (1 - done) * gamma * critic(torch.randn(32, 3))  # trap: loss-broadcasts
    return target, reward + gamma * critic(torch.randn(32, 3)).squeeze(-1)


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


def several_sizes(rows=torch.randn(500, 16)):
    net = Wide()
    for batch in torch.utils.data.DataLoader(Houses(), batch_size=10):
        criterion(net(batch["x"]), batch["y"])  # trap: loss-broadcasts
    return net(rows).squeeze(1), net(torch.randn(7, 16))[:, 0]
