import torch


def evaluate(model, loader):
    torch.set_grad_enabled(False)  # trap: set-grad-enabled-left-off
    return [model(x) for x in loader]


def extract(model, x):
    model.eval()
    torch.autograd.set_grad_enabled(False)  # trap: set-grad-enabled-left-off
    return model(x)


def forward_only(model, x):
    torch.set_grad_enabled(mode=False)  # trap: set-grad-enabled-left-off
    return model(x)


def restored(model, x):
    torch.set_grad_enabled(False)
    y = model(x)
    torch.set_grad_enabled(True)
    return y


def phases(model, x, y, phase):
    torch.set_grad_enabled(phase == "train")
    with torch.set_grad_enabled(False):
        model(x)
    loss = (model(x) - y).pow(2).mean()
    loss.backward()


@torch.set_grad_enabled(False)
def predict(model, x):
    return model(x)


def validation_step(model, batch):
    torch.set_grad_enabled(True)  # the trainer turned it off, finetuning needs it
    loss = model(batch).mean()
    loss.backward()
    torch.set_grad_enabled(False)
