import torch

PHASES = ("Train", "Val")


def by_branch(model, loaders, optimizer, criterion):
    for phase in PHASES:
        if phase == "train":  # trap: phase-never-equal
            model.train()
        else:
            model.eval()
        for x, y in loaders[phase]:
            with torch.set_grad_enabled(phase == "Train"):
                loss = criterion(model(x), y)
            if phase == "Train":
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def by_key(model, a, b):
    loaders = {"tr": a, "va": b}
    for phase, loader in loaders.items():
        model.train(phase == "train")  # trap: phase-never-equal
        for x in loader:
            model(x)


def in_a_row(model, loaders):
    for phase in ("trn", "val"):
        model.train() if phase == "train" else model.eval()  # trap: phase-never-equal
        is_train = phase == "train"  # trap: phase-never-equal
        for x in loaders[phase]:
            model(x, is_train)


def a_word_that_is_there(model, loaders):
    for phase in ["train", "val"]:
        model.train(phase == "train")
        if phase == "test":
            print("no such phase yet")
        for x in loaders[phase]:
            model(x)


def given(model, phase):
    model.train(phase == "train")


def from_elsewhere(model, phases):
    for phase in phases:
        model.train(phase == "train")
