import torch


def train(model, ema, loader, optimizer, loss, evaluate):
    for _ in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
            ema.update(model.parameters())
        ema.store(model.parameters())
        ema.copy_to(model.parameters())  # trap: averaged-weights-left-in
        evaluate(model)


def validate(model, ema, evaluate):
    ema.apply_shadow()  # trap: averaged-weights-left-in
    return evaluate(model)


def fit(model, ema, epochs, step, evaluate):
    for _ in range(epochs):
        step(model)
        validate(model, ema, evaluate)


@torch.no_grad()
def at_the_end(model, ema, epochs, step, evaluate):
    for _ in range(epochs):
        step(model)
        ema.update()
    ema.apply_shadow()
    return evaluate(model)


def paired(model, ema, epochs, step, evaluate, sampler):
    for _ in range(epochs):
        step(model)
        ema.store(model.parameters())
        ema.copy_to(model.parameters())
        evaluate(model)
        ema.restore(model.parameters())
        ema.copy_to(sampler.parameters())
