import torch
from torch import nn


def predict(model: nn.Module, loader):
    model.eval()
    found = []
    for x, _ in loader:
        found.append(model(x))  # trap: eval-without-no-grad
    return torch.cat(found)


def through_a_name(model: nn.Module, loader):
    model.eval()
    found = []
    for x in loader:
        scores = model(x)  # trap: eval-without-no-grad
        found.append(scores.cpu())
    return found


# clean
def quiet(model: nn.Module, loader):
    model.eval()
    with torch.no_grad():
        return [model(x) for x in loader]


@torch.inference_mode()
def decorated(model: nn.Module, loader):
    model.eval()
    found = []
    for x in loader:
        found.append(model(x))
    return found


def cut(model: nn.Module, loader):
    model.eval()
    found = []
    for x in loader:
        found.append(model(x).argmax(1))  # trap: eval-without-no-grad
    return found


def called_quietly(model: nn.Module, loader):
    model.eval()
    found = []
    for x in loader:
        found.append(model(x))
    return found


def adversarial(model: nn.Module, loader):
    model.eval()
    outs = []
    for x in loader:
        x.requires_grad_()
        out = model(x)
        out.sum().backward()
        outs.append(x.grad)
    return outs


def main(model, loader):
    with torch.no_grad():
        return called_quietly(model, loader)


def losses_of(model, loader, criterion=None):
    criterion = nn.CrossEntropyLoss()
    model.eval()
    losses, numbers = [], []
    for x, y in loader:
        out = model(x)  # trap: eval-without-no-grad
        loss = criterion(out, y)
        losses.append(loss)
        numbers.append(loss.item())
    return torch.stack(losses).mean(), numbers


def sample(model: nn.Module, x, steps):
    model.eval()
    for _ in range(steps):
        noise = model(x)  # trap: eval-without-no-grad
        x = x - 0.1 * noise
    return x


def recurrent(model: nn.LSTM, token, state, steps):
    model.eval()
    said = []
    for _ in range(steps):
        out, state = model(token, state)  # trap: eval-without-no-grad
        token = out.argmax(-1)
        said.append(token.item())
    return said


def sample_well(model: nn.Module, x, steps):
    model.eval()
    for _ in range(steps):
        with torch.no_grad():
            x = x - 0.1 * model(x)
        x = x - 0.1 * model(x).detach()
    return x


def attack(model: nn.Module, x, steps):
    model.eval()
    for _ in range(steps):
        x = x.detach().requires_grad_(True)
        (step,) = torch.autograd.grad(model(x).sum(), x)
        x = x + step
    return x


def repackaged(model: nn.LSTM, batches, state, repackage):
    model.eval()
    total = 0.0
    for x in batches:
        out, state = model(x, state)  # trap: eval-without-no-grad
        total += out.mean().item()
        state = repackage(state)
    return total


class Distance(nn.Module):
    def forward(self, a, b):
        return (a - b).abs().sum(1)


def measured(pairs):
    far = Distance()
    far.eval()
    found = []
    for a, b in pairs:
        d = far(a, b)
        found.append(d)
    return torch.cat(found)


def mean_loss(model: nn.Module, loader):
    model.eval()
    total = 0
    for x, y in loader:
        total += nn.functional.mse_loss(model(x), y)  # trap: eval-without-no-grad
    return total / len(loader)


def mean_number(model: nn.Module, loader):
    model.eval()
    total = 0
    for x, y in loader:
        total += nn.functional.mse_loss(model(x), y).item()  # trap: eval-without-no-grad
    return total / len(loader)


class Speaker(nn.Module):
    def __init__(self, cell: nn.GRUCell):
        super().__init__()
        self.cell = cell

    def forward(self, x, state, dropping):
        if dropping:
            self.cell.train()
        else:
            self.cell.eval()
        for _ in range(40):
            state = self.cell(x, state)
        return state


def attacked(model: nn.Module, loader, attack):
    model.eval()
    right = 0
    with torch.enable_grad():
        for x, y in loader:
            right += (model(attack(x, y)).argmax(1) == y).sum().item()
    return right


class Parts(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def features(self, x):
        return self.body(x)


def gallery(loader):
    net, bank = Parts(), []
    net.eval()
    for x, _ in loader:
        bank.append(net.features(x))  # trap: eval-without-no-grad
    return bank, [net.features(x).detach() for x, _ in loader]
