"""Whole small scripts about data, states and losses, as users write them: the marked lines are found, and no other."""

import re

import pytest

from torchlore.check import engine
from torchlore.cli.check import all_rules

PROGRAMS = """\
=== saved-state-not-loaded
import torch
class Late:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
    def setup(self):
        self.optimizer = torch.optim.Adam(self.net.parameters())
    def resume(self, path):
        state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
    def fit(self, x, y):
        self.optimizer = torch.optim.Adam(self.net.parameters())  # trap: saved-state-not-loaded
        for _ in range(10):
            self.optimizer.zero_grad()
            (self.net(x) - y).pow(2).mean().backward()
            self.optimizer.step()
def go_on(net, path, x, y):
    late = Late(net)
    late.setup()
    late.resume(path)
    late.fit(x, y)
=== saved-state-not-loaded, clean
import torch
class Late:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
    def setup(self):
        self.optimizer = torch.optim.Adam(self.net.parameters())
    def resume(self, path):
        state = torch.load(path, map_location="cpu")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
    def fit(self, x, y):
        self.optimizer = torch.optim.Adam(self.net.parameters())
        for _ in range(10):
            self.optimizer.zero_grad()
            (self.net(x) - y).pow(2).mean().backward()
            self.optimizer.step()
def go_on(net, path, x, y):
    late = Late(net)
    late.fit(x, y)
    late.resume(path)
    print(late.net(x))
=== frozen-batchnorm-still-updates
import torch
from torch import nn
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU())
    def forward(self, x):
        return self.layers(x)
class Transfer(nn.Module):
    def __init__(self, backbone, n_out):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32, n_out)
        for p in self.backbone.parameters():
            p.requires_grad = False
    def forward(self, x):
        return self.head(self.backbone(x))
def fit(model, steps):
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    model.train()  # trap: frozen-batchnorm-still-updates
    for _ in range(steps):
        x, y = torch.randn(64, 10), torch.randint(0, 2, (64,))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
backbone = Backbone()
fit(nn.Sequential(backbone, nn.Linear(32, 2)), 10)
model = Transfer(backbone, 2)
fit(model, 100)
=== frozen-batchnorm-still-updates, clean
import torch
from torch import nn
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU())
    def forward(self, x):
        return self.layers(x)
class Transfer(nn.Module):
    def __init__(self, backbone, n_out):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32, n_out)
        for p in self.backbone.parameters():
            p.requires_grad = False
    def forward(self, x):
        return self.head(self.backbone(x))
def fit(model, steps):
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
    model.train()
    if isinstance(model, Transfer):
        model.backbone.eval()
    for _ in range(steps):
        x, y = torch.randn(64, 10), torch.randint(0, 2, (64,))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
backbone = Backbone()
fit(nn.Sequential(backbone, nn.Linear(32, 2)), 10)
model = Transfer(backbone, 2)
fit(model, 100)
=== state-dict-alias
import torch
import torch.nn as nn
def make_data(n=300):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 10, generator=g)
    y = (x[:, :3].sum(1) + torch.randn(n, generator=g) > 0).long()
    return x, y
def train(model, x, y, epochs=40):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(epochs):
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()
def cross_validate(k=5):
    torch.manual_seed(0)
    x, y = make_data()
    folds = torch.randperm(len(x)).chunk(k)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
    fresh = model.state_dict()  # trap: state-dict-alias
    scores = []
    for i in range(k):
        model.load_state_dict(fresh)
        before = accuracy(model, x, y)
        rest = torch.cat([f for j, f in enumerate(folds) if j != i])
        train(model, x[rest], y[rest])
        scores.append(accuracy(model, x[folds[i]], y[folds[i]]))
        print("fold", i, "before %.3f" % before, "val %.3f" % scores[-1])
    return sum(scores) / k
print("cv accuracy %.3f" % cross_validate())
=== state-dict-alias, clean
import torch
import torch.nn as nn
import copy
def make_data(n=300):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 10, generator=g)
    y = (x[:, :3].sum(1) + torch.randn(n, generator=g) > 0).long()
    return x, y
def train(model, x, y, epochs=40):
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(epochs):
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()
def cross_validate(k=5):
    torch.manual_seed(0)
    x, y = make_data()
    folds = torch.randperm(len(x)).chunk(k)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
    fresh = copy.deepcopy(model.state_dict())
    scores = []
    for i in range(k):
        model.load_state_dict(fresh)
        before = accuracy(model, x, y)
        rest = torch.cat([f for j, f in enumerate(folds) if j != i])
        train(model, x[rest], y[rest])
        scores.append(accuracy(model, x[folds[i]], y[folds[i]]))
        print("fold", i, "before %.3f" % before, "val %.3f" % scores[-1])
    return sum(scores) / k
print("cv accuracy %.3f" % cross_validate())
=== accumulate-loss-with-graph
import torch
import torch.nn as nn
class TrackedLoss(nn.Module):
    def __init__(self, weight=0.1):
        super().__init__()
        self.mse = nn.MSELoss()
        self.weight = weight
        self.records = {"fit": [], "smooth": []}
    def forward(self, pred, target):
        fit = self.mse(pred, target)
        smooth = (pred[:, 1:] - pred[:, :-1]).abs().mean()
        self.records["fit"].append(fit)  # trap: accumulate-loss-with-graph
        self.records["smooth"].append(smooth)  # trap: accumulate-loss-with-graph
        return fit + self.weight * smooth
def curves(n):
    t = torch.linspace(0, 1, 32)
    phase = torch.rand(n, 1)
    clean = torch.sin(6.28 * (t + phase))
    return clean + 0.2 * torch.randn(n, 32), clean
def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 32))
    criterion = TrackedLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(150):
        noisy, clean = curves(16)
        loss = criterion(net(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    last = criterion.records["fit"]
    print("mean of the last ten %.4f" % (float(sum(last[-10:])) / 10))
    print("graphs kept", sum(getattr(v, "grad_fn", None) is not None for v in last))
main()
=== accumulate-loss-with-graph, clean
import torch
import torch.nn as nn
class TrackedLoss(nn.Module):
    def __init__(self, weight=0.1):
        super().__init__()
        self.mse = nn.MSELoss()
        self.weight = weight
        self.records = {"fit": [], "smooth": []}
    def forward(self, pred, target):
        fit = self.mse(pred, target)
        smooth = (pred[:, 1:] - pred[:, :-1]).abs().mean()
        self.records["fit"].append(fit.item())
        self.records["smooth"].append(smooth.item())
        return fit + self.weight * smooth
def curves(n):
    t = torch.linspace(0, 1, 32)
    phase = torch.rand(n, 1)
    clean = torch.sin(6.28 * (t + phase))
    return clean + 0.2 * torch.randn(n, 32), clean
def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 32))
    criterion = TrackedLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(150):
        noisy, clean = curves(16)
        loss = criterion(net(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    last = criterion.records["fit"]
    print("mean of the last ten %.4f" % (float(sum(last[-10:])) / 10))
    print("graphs kept", sum(getattr(v, "grad_fn", None) is not None for v in last))
main()
=== clip-outside-backward-step
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 32)
        self.head = nn.Linear(32, 1)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))
def closure_step(model, optimizer, x, y, max_norm):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    grads = [p.grad.clone() for p in model.parameters()]
    clip_grad_norm_(grads, max_norm)  # trap: clip-outside-backward-step
    optimizer.step()
    return loss.item()
def main():
    torch.manual_seed(0)
    model = Actor()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    largest = 0.0
    for it in range(100):
        x = torch.randn(32, 6)
        y = 30 * x.sum(1, keepdim=True)
        before = [p.detach().clone() for p in model.parameters()]
        loss = closure_step(model, optimizer, x, y, 1.0)
        step = torch.stack([(a - b).norm() for a, b in zip(before, model.parameters())]).norm().item()
        largest = max(largest, step / 1e-3)
    print("loss %.2f" % loss)
    print("largest norm used %.3f" % largest)
main()
=== clip-outside-backward-step, clean
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 32)
        self.head = nn.Linear(32, 1)
    def forward(self, x):
        return self.head(torch.relu(self.body(x)))
def closure_step(model, optimizer, x, y, max_norm):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return loss.item()
def main():
    torch.manual_seed(0)
    model = Actor()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    largest = 0.0
    for it in range(100):
        x = torch.randn(32, 6)
        y = 30 * x.sum(1, keepdim=True)
        before = [p.detach().clone() for p in model.parameters()]
        loss = closure_step(model, optimizer, x, y, 1.0)
        step = torch.stack([(a - b).norm() for a, b in zip(before, model.parameters())]).norm().item()
        largest = max(largest, step / 1e-3)
    print("loss %.2f" % loss)
    print("largest norm used %.3f" % largest)
main()
=== swa-without-update-bn
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn
from torch.utils.data import DataLoader, TensorDataset
def data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = 10 * torch.randn(n, 8, generator=g) + 20
    return TensorDataset(x, (x[:, 0] > x[:, 1]).long())
def accuracy(model, ds):
    model.eval()
    x, y = ds.tensors
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()
def main():
    torch.manual_seed(0)
    train_ds, test_ds = data(800, 1), data(400, 2)
    loader = DataLoader(train_ds, batch_size=40, shuffle=True)
    model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    swa_model = AveragedModel(model)
    swa_scheduler = SWALR(optimizer, swa_lr=0.02)
    for epoch in range(12):
        model.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch >= 6:
            swa_model.update_parameters(model)
            swa_scheduler.step()
    update_bn(loader, model)  # trap: swa-without-update-bn
    print("plain %.3f" % accuracy(model, test_ds))
    print("swa %.3f" % accuracy(swa_model, test_ds))
main()
=== swa-without-update-bn, clean
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn
from torch.utils.data import DataLoader, TensorDataset
def data(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = 10 * torch.randn(n, 8, generator=g) + 20
    return TensorDataset(x, (x[:, 0] > x[:, 1]).long())
def accuracy(model, ds):
    model.eval()
    x, y = ds.tensors
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()
def main():
    torch.manual_seed(0)
    train_ds, test_ds = data(800, 1), data(400, 2)
    loader = DataLoader(train_ds, batch_size=40, shuffle=True)
    model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    swa_model = AveragedModel(model)
    swa_scheduler = SWALR(optimizer, swa_lr=0.02)
    for epoch in range(12):
        model.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch >= 6:
            swa_model.update_parameters(model)
            swa_scheduler.step()
    update_bn(loader, swa_model)
    print("plain %.3f" % accuracy(model, test_ds))
    print("swa %.3f" % accuracy(swa_model, test_ds))
main()
=== state-dict-alias, clean: two states for one update
import copy
import torch
from torch import nn
class EMA:
    def __init__(self, model, decay=0.98):
        self.model = copy.deepcopy(model).eval()
        self.decay = decay
    @torch.no_grad()
    def update(self, model):
        own, other = self.model.state_dict(), model.state_dict()
        for k in own:
            own[k].mul_(self.decay).add_(other[k], alpha=1 - self.decay)
def main():
    net = nn.Linear(6, 1)
    ema = EMA(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(500):
        x = torch.randn(8, 6)
        loss = net(x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net)
    return ema
main()
=== dataset-rng-per-worker
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Waves(Dataset):
    def __init__(self, n=64):
        self.n = n
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        shift = np.random.rand()
        t = np.linspace(0, 1, 16)
        return torch.tensor(np.sin(6.28 * (t + shift)), dtype=torch.float32), torch.tensor(shift)
def seed_worker(worker_id):
    np.random.seed(42)  # trap: dataset-rng-per-worker
def main():
    torch.manual_seed(0)
    loader = DataLoader(Waves(), batch_size=8, shuffle=True, num_workers=2, worker_init_fn=seed_worker)
    net = nn.Linear(16, 2)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    seen = []
    for epoch in range(2):
        for x, s in loader:
            goal = torch.stack([(6.28 * s).sin(), (6.28 * s).cos()], 1).float()
            loss = nn.functional.mse_loss(net(x), goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += s.tolist()
    print("loss %.4f" % loss.item())
    print("distinct shifts", len(set(seen)), "of", len(seen))
if __name__ == "__main__":
    main()
=== dataset-rng-per-worker, clean
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Waves(Dataset):
    def __init__(self, n=64):
        self.n = n
    def __len__(self):
        return self.n
    def __getitem__(self, i):
        shift = np.random.rand()
        t = np.linspace(0, 1, 16)
        return torch.tensor(np.sin(6.28 * (t + shift)), dtype=torch.float32), torch.tensor(shift)
def seed_worker(worker_id):
    np.random.seed(torch.initial_seed() % 2**32)
def main():
    torch.manual_seed(0)
    loader = DataLoader(Waves(), batch_size=8, shuffle=True, num_workers=2, worker_init_fn=seed_worker)
    net = nn.Linear(16, 2)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    seen = []
    for epoch in range(2):
        for x, s in loader:
            goal = torch.stack([(6.28 * s).sin(), (6.28 * s).cos()], 1).float()
            loss = nn.functional.mse_loss(net(x), goal)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += s.tolist()
    print("loss %.4f" % loss.item())
    print("distinct shifts", len(set(seen)), "of", len(seen))
if __name__ == "__main__":
    main()
=== loss-args-swapped
import torch
from torch import nn
class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 6))
    def forward(self, x):
        return self.f(x)
def triplet_batch(n, g):
    centres = torch.randn(5, 10, generator=torch.Generator().manual_seed(1))
    c = torch.randint(0, 5, (n,), generator=g)
    d = (c + torch.randint(1, 5, (n,), generator=g)) % 5
    noise = lambda: 0.5 * torch.randn(n, 10, generator=g)
    return centres[c] + noise(), centres[c] + noise(), centres[d] + noise()
def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    enc = Enc()
    criterion = nn.TripletMarginLoss(margin=1.0)
    opt = torch.optim.Adam(enc.parameters(), lr=2e-3)
    for _ in range(200):
        anchor, positive, negative = triplet_batch(64, g)
        za, zp, zn = enc(anchor), enc(positive), enc(negative)
        loss = criterion(za, zn, zp)  # trap: loss-args-swapped
        opt.zero_grad()
        loss.backward()
        opt.step()
    anchor, positive, negative = triplet_batch(500, g)
    with torch.no_grad():
        right = ((enc(anchor) - enc(positive)).norm(dim=1) < (enc(anchor) - enc(negative)).norm(dim=1)).float().mean()
    print("right order %.3f" % right.item())
main()
=== loss-args-swapped, clean
import torch
from torch import nn
class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 6))
    def forward(self, x):
        return self.f(x)
def triplet_batch(n, g):
    centres = torch.randn(5, 10, generator=torch.Generator().manual_seed(1))
    c = torch.randint(0, 5, (n,), generator=g)
    d = (c + torch.randint(1, 5, (n,), generator=g)) % 5
    noise = lambda: 0.5 * torch.randn(n, 10, generator=g)
    return centres[c] + noise(), centres[c] + noise(), centres[d] + noise()
def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    enc = Enc()
    criterion = nn.TripletMarginLoss(margin=1.0)
    opt = torch.optim.Adam(enc.parameters(), lr=2e-3)
    for _ in range(200):
        anchor, positive, negative = triplet_batch(64, g)
        za, zp, zn = enc(anchor), enc(positive), enc(negative)
        loss = criterion(za, zp, zn)
        opt.zero_grad()
        loss.backward()
        opt.step()
    anchor, positive, negative = triplet_batch(500, g)
    with torch.no_grad():
        right = ((enc(anchor) - enc(positive)).norm(dim=1) < (enc(anchor) - enc(negative)).norm(dim=1)).float().mean()
    print("right order %.3f" % right.item())
main()
"""


@pytest.fixture(scope="module")
def rules():
    return all_rules()


@pytest.mark.parametrize("program", re.split(r"^=== .*\n", PROGRAMS, flags=re.MULTILINE)[1:])
def test_the_marked_lines_are_found(rules, program):
    marks = re.finditer(r"trap: ([\w-]+)", program)
    wanted = {(program[: one.start()].count("\n") + 1, one[1]) for one in marks}
    found = {(one.line, one.slug) for one in engine.check_text(program, rules, "train.py") if one.severity != "hint"}
    assert found == wanted
